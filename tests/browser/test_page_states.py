"""The page when there is nothing, not yet all, or something hostile to show."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import event_files
import numpy as np
import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess
from scalar_files import STARTED, write_scalars

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=document.title='pwned'>"


def test_a_logdir_without_data_says_what_to_do(
    tmp_path: Path, open_page: Callable[..., SlowdownPage]
) -> None:
    event_files.write_events(tmp_path / "logs" / "run1", [event_files.scalar_event("loss", 0, 1.0)])
    with TensorBoardProcess(["--logdir", str(tmp_path / "logs")], tmp_path) as board:
        board.wait_until(
            "the scalars are read", lambda: board.slowdown("runs").json["other_runs"] == 1
        )
        page = open_page(board.url)
        page.open()
        assert page.headline() == "No step times in this logdir yet."
        assert "Found 1 run" in page.text()
        assert "tbslow.summary.step()" in page.text()
        assert page.complaints == []
        page.close()


def test_names_from_a_logdir_are_shown_and_not_run(
    tmp_path: Path, open_page: Callable[..., SlowdownPage]
) -> None:
    event_files.write_chunks(
        tmp_path / "logs" / HOSTILE / "slowdown", event_files.split(event_files.make_steps(400))
    )
    arguments = ["--logdir", str(tmp_path / "logs"), *LOADERS["python"]]
    with TensorBoardProcess(arguments, tmp_path) as board:
        board.wait_until("the run is read", lambda: bool(board.runs()))
        page = open_page(board.url)
        frame = page.open(HOSTILE)
        assert HOSTILE in page.text()
        assert frame.locator("img").count() == 0
        assert frame.evaluate("document.title") != "pwned"
        assert page.complaints == []
        page.close()


def test_a_link_to_a_run_that_is_gone_says_so(
    demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(demo_board.url)
    page.open("deleted")
    assert page.headline() == "No such run."
    assert "deleted" in page.text()
    assert page.complaints == []
    page.close()


@pytest.mark.parametrize("loader", list(LOADERS))
def test_an_open_page_follows_a_run_under_a_path_prefix(
    tmp_path: Path, open_page: Callable[..., SlowdownPage], loader: str
) -> None:
    chunks = event_files.split(
        event_files.make_steps(600, started=time.time() - 60.0), started=time.time() - 60.0
    )
    path = event_files.write_chunks(tmp_path / "logs" / "run1" / "slowdown", chunks[:1])
    arguments = ["--logdir", str(tmp_path / "logs"), *LOADERS[loader]]
    with TensorBoardProcess(arguments, tmp_path, path_prefix="/team/board") as board:
        board.wait_until("the run is read", lambda: bool(board.runs()))
        page = open_page(board.url)
        frame = page.open("run1")
        fresh = frame.locator(".live")
        assert re.fullmatch(r"live · step 255, reported \d+ s ago", fresh.inner_text())
        assert "; last record at " in str(fresh.get_attribute("title"))
        with path.open("ab") as file:
            file.writelines(event_files.frame(event_files.chunk_event(c)) for c in chunks[1:])
        frame.get_by_text("step 599").first.wait_for()
        assert page.complaints == []
        page.close()


def test_a_run_from_scalars_says_what_it_is(
    tmp_path: Path, open_page: Callable[..., SlowdownPage]
) -> None:
    for name, slower in (("slower", 2.0), ("flat", 1.0)):
        seconds = np.where(np.arange(400) < 250, 0.5, 0.5 * slower)
        scalars = {"loss": 1 / np.arange(1.0, 401.0), "batch_size": 32 * (seconds / 0.5)}
        time = STARTED + np.cumsum(seconds)
        write_scalars(tmp_path / "logs" / name, range(400), time.tolist(), scalars)
    with TensorBoardProcess(["--logdir", str(tmp_path / "logs")], tmp_path) as board:
        board.wait_until("the runs are read", lambda: len(board.runs()) == 2)
        page = open_page(board.url)
        frame = page.open("slower")
        assert "since step 250. The cause wasn't measured" in page.headline()
        text = page.text()
        assert "tbslow run train.py" in text
        assert "batch_size goes from 32 to 64 at step 250" in text
        assert "this run has no records of the monitor" in text
        frame.locator("button.picker").click()
        frame.locator(".pop tbody tr").first.wait_for()
        assert frame.locator(".pop td", has_text="from scalars").count() == 2
        assert page.complaints == []
        page.close()
