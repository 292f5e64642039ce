"""The menu Report: the run as a page to send, and as data for scripts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.conftest import DEMO_LOGS, DEMO_RUN

from tb_slowdown_plugin.__main__ import main

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import Download, Locator

pytestmark = pytest.mark.browser


def menu(page: SlowdownPage) -> Locator:
    return page.frame().locator("details.menu:not(.keys)")


def saved(page: SlowdownPage, choice: str) -> Download:
    """What the browser saves when this is chosen in the menu."""
    menu(page).locator("summary").click()
    with page.page.expect_download() as download:
        menu(page).get_by_role("link", name=choice).click()
    return download.value


def test_the_data_for_scripts_is_what_the_command_prints(
    page: SlowdownPage, capsys: pytest.CaptureFixture[str]
) -> None:
    download = saved(page, "Download as JSON")
    assert main(["report", str(DEMO_LOGS), "--run", DEMO_RUN, "--format", "json"]) == 0
    assert download.suggested_filename == f"slowdown-{DEMO_RUN}.json"
    assert json.loads(download.path().read_text()) == json.loads(capsys.readouterr().out)


def test_the_page_to_send_shows_the_same_run_without_a_server(
    page: SlowdownPage, tmp_path: Path
) -> None:
    headline = page.headline()
    download = saved(page, "Download as HTML")
    assert download.suggested_filename == f"slowdown-{DEMO_RUN}.html"
    path = tmp_path / download.suggested_filename
    download.save_as(path)
    alone = page.page.context.new_page()
    alone.goto(path.as_uri())
    alone.locator("#card-input_pipeline").wait_for()
    assert alone.locator("h1").inner_text() == headline
    assert alone.locator("button.picker b").inner_text() == DEMO_RUN
    alone.close()
    assert page.complaints == []


def test_the_menu_closes_by_key_by_choice_and_elsewhere(page: SlowdownPage) -> None:
    frame = page.frame()
    summary, links = menu(page).locator("summary"), menu(page).get_by_role("link")
    summary.focus()
    page.press("Enter")
    links.first.wait_for()
    assert page.violations() == []
    page.press("Tab", "Escape")
    links.first.wait_for(state="hidden")
    assert summary.evaluate("summary => summary === document.activeElement")
    for elsewhere in ("h1", ".ledger"):
        summary.click()
        links.first.wait_for()
        frame.locator(elsewhere).first.click()
        links.first.wait_for(state="hidden")
    saved(page, "Download as JSON")
    links.first.wait_for(state="hidden")
