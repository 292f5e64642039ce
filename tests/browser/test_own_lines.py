"""The reader's own lines on the page: numbers, copy, and the editor's address."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import TensorBoardProcess
from playwright.sync_api import expect

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = [pytest.mark.browser, pytest.mark.tensorflow]
pytest.importorskip("tensorflow")

PROGRAM = "collect_in_loop.py"


@pytest.fixture(scope="module")
def board(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    """TensorBoard in the directory of a program that has just been trained."""
    folder = tmp_path_factory.mktemp("program")
    shutil.copy(root / "tests" / "fixable" / PROGRAM, folder)
    subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "run", "--logdir", "logs/run1", PROGRAM],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(root)},
        check=True,
        capture_output=True,
    )
    with TensorBoardProcess(["--logdir", "logs", "--load_fast=true"], folder) as board:
        board.wait_until("the run is read", lambda: len(board.runs()) == 1)
        yield board


def test_a_patch_has_line_numbers_and_opens_in_the_editor(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(board.url)
    frame = page.open("run1")
    code = frame.locator("#card-garbage_collection .code").first
    lines = (board.cwd / PROGRAM).read_text().splitlines()
    (line,) = (n for n, text in enumerate(lines, 1) if "gc.collect()" in text)
    removed = code.locator("pre .d")
    expect(removed).to_have_attribute("data-n", str(line))
    expect(removed).to_contain_text("gc.collect()")
    before = code.locator(f"pre [data-n='{line - 1}']")
    assert before.inner_text().strip() == lines[line - 2].strip()
    link = code.get_by_role("link", name="Open in editor")
    expect(link).to_have_attribute("href", f"vscode://file{board.cwd / PROGRAM}:{line}")
    assert page.complaints == []


def test_reports_that_are_saved_have_neither_lines_nor_directory(
    board: TensorBoardProcess,
) -> None:
    for route in ("report", "report.html"):
        body = board.request(f"/data/plugin/slowdown/{route}?run=run1").body.decode()
        assert str(board.cwd) not in body
        assert "vscode:" not in body.replace("vscode://file{path}", "")
    for path in (board.cwd / "logs").rglob("*"):
        assert path.is_dir() or str(board.cwd).encode() not in path.read_bytes()
