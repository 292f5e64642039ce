"""One Chromium for all modules of this folder, and where its pictures go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import chromium
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import Browser

FOLDER = Path(__file__).parent
DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
DEMO_RUNS: list[str] = list(json.loads((DEMO_LOGS / "expected.json").read_text()))
DEMO_RUN = "slow_map_stage"
DEMO_ROWS = 1200

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # The same pixels wherever the same Chromium and fonts are.
    "--disable-lcd-text",
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
    "--force-device-scale-factor=1",
    # Names of attackers lead to this machine.
    "--host-resolver-rules=MAP *.example 127.0.0.1",
]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--make-pictures",
        action="store_true",
        help="make the kept pictures of the page anew instead of comparing with them",
    )


@pytest.fixture(scope="session")
def pictures(root: Path) -> Path:
    """A folder that git ignores."""
    folder = root / "test-output" / "browser"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


_running = ExitStack()
"""What ends with the last test of this folder: Playwright keeps an event loop in this thread,
which is not for the tests after them."""
_browsers: list[Browser] = []
"""None, or the one that runs."""


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or FOLDER not in nextitem.path.parents:
        _browsers.clear()
        _running.close()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The Chromium; what a module opens in it is closed at its end."""
    if not _browsers:
        from playwright.sync_api import sync_playwright

        playwright = _running.enter_context(sync_playwright())
        _browsers.append(playwright.chromium.launch(executable_path=chromium(), args=FLAGS))
        _running.callback(_browsers[0].close)
    yield _browsers[0]
    for context in _browsers[0].contexts:
        context.close()


@pytest.fixture(scope="module")
def open_page(browser: Browser) -> Callable[..., SlowdownPage]:
    """Opens a `SlowdownPage` at an address; all are closed at the end of the module."""
    from browser.slowdown_page import SlowdownPage

    def open_page(url: str, *, scheme: str = "light", width: int = 1440) -> SlowdownPage:
        return SlowdownPage(browser, url, scheme, width)

    return open_page


@pytest.fixture(scope="session")
def demo_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    """One TensorBoard over the recorded runs, for all modules that change nothing there."""
    arguments = ["--logdir", str(DEMO_LOGS), "--load_fast=true"]
    with TensorBoardProcess(arguments, tmp_path_factory.mktemp("demo")) as board:
        board.wait_until("each run is read", lambda: len(board.runs()) == len(DEMO_RUNS))
        yield board


@pytest.fixture(scope="module")
def tab(demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    return open_page(demo_board.url)


@pytest.fixture
def page(tab: SlowdownPage) -> Iterator[SlowdownPage]:
    """The page loaded anew at a run; it must have nothing to complain of after each test."""
    tab.complaints.clear()
    tab.open(DEMO_RUN)
    yield tab
    assert tab.complaints == []
    assert len(tab.requested) == 1, tab.requested
