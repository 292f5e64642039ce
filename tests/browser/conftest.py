"""One Chromium a module, and where its pictures go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import chromium

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

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
