"""A browser shows the right first cause for each recorded run, and has nothing to complain of."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
EXPECTED: dict[str, str] = json.loads((DEMO_LOGS / "expected.json").read_text())
SPEC_NAME = "recorded"
STARTS = {
    **{loader: ["--logdir", str(DEMO_LOGS), *flags] for loader, flags in LOADERS.items()},
    "logdir_spec": ["--logdir_spec", f"{SPEC_NAME}:{DEMO_LOGS}"],
}


@pytest.fixture(scope="module", params=list(STARTS))
def board(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardProcess]:
    with TensorBoardProcess(STARTS[request.param], tmp_path_factory.mktemp("board")) as board:
        board.wait_until("each run is read", lambda: len(board.runs()) == len(EXPECTED))
        yield board


@pytest.fixture(scope="module")
def page(board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    page = open_page(board.url)
    page.open()
    return page


def name_of(board: TensorBoardProcess, run: str) -> str:
    return f"{SPEC_NAME}/{run}" if "--logdir_spec" in board.arguments else run


@pytest.mark.parametrize("run", EXPECTED)
def test_the_first_cause_is_the_defect_and_the_browser_has_nothing_to_complain_of(
    page: SlowdownPage, board: TensorBoardProcess, run: str
) -> None:
    page.switch(name_of(board, run))
    assert page.first_cause() == EXPECTED[run], page.headline()
    # No console error, no CSP violation, no failed request.
    assert page.complaints == []


def test_nothing_is_asked_of_another_origin(page: SlowdownPage, board: TensorBoardProcess) -> None:
    page.open(name_of(board, next(iter(EXPECTED))))
    assert page.requested == {f"http://localhost:{board.port}"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_follows_the_theme(
    demo_board: TensorBoardProcess,
    open_page: Callable[..., SlowdownPage],
    pictures: Path,
    scheme: str,
    request: pytest.FixtureRequest,
) -> None:
    page = open_page(demo_board.url, scheme=scheme)
    page.open("retrace_python_number")
    assert page.is_dark() == (scheme == "dark")
    assert page.first_cause() == "retracing"
    assert page.complaints == []
    if request.config.getoption("--all"):  # to look at
        for run in EXPECTED:
            page.switch(run)
            page.screenshot(pictures / f"{run}-{scheme}.png")
    page.close()
