"""One Chromium a module, and where its pictures go."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import chromium
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

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


@pytest.fixture(scope="module")
def open_page() -> Iterator[Callable[..., SlowdownPage]]:
    """Opens a `SlowdownPage` at an address; all are closed at the end of the module."""
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)

        def open_page(url: str, *, scheme: str = "light", width: int = 1440) -> SlowdownPage:
            return SlowdownPage(browser, url, scheme, width)

        yield open_page
        browser.close()


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
    """The page freshly opened at a run; it must have nothing to complain of after each test."""
    tab.complaints.clear()
    tab.open(DEMO_RUN)
    yield tab
    assert tab.complaints == []
    assert len(tab.requested) == 1, tab.requested
