"""What a hand can do with cards, tables and lists."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser.conftest import DEMO_ROWS, DEMO_RUN
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser


def test_a_card_leads_to_its_steps_and_to_what_changed(
    page: SlowdownPage, demo_board: TensorBoardProcess
) -> None:
    (report,) = demo_board.slowdown("report", run=DEMO_RUN).json["runs"]
    begins = report["causes"][0]["steps"][0]  # steps are counted from 0: also the row
    frame = page.frame()
    card = frame.locator("#card-input_pipeline")
    onset = card.locator("> summary").inner_text()
    assert f"step {begins}" in onset
    card.get_by_role("button", name=re.compile(f"^Show steps {begins}")).click()
    first, last = page.wait_changed("rows", None)
    assert first <= begins
    assert last == DEMO_ROWS - 1
    card.get_by_role("button", name=f"What changed at {begins}?").click()
    assert page.wait_changed("selection", None)[0] == begins
    changes = frame.locator("#changed tbody")
    changes.get_by_text("Lost to input pipeline").wait_for()


def test_segment_and_term_open_the_card(page: SlowdownPage) -> None:
    frame = page.frame()
    card = frame.locator("#card-input_pipeline")
    card.locator("> summary").click()
    frame.locator("#card-input_pipeline:not([open])").wait_for()
    frame.locator(".where button", has_text="Input").click()
    card.locator(".body").wait_for()
    card.locator("> summary").press("Enter")
    frame.locator("#card-input_pipeline:not([open])").wait_for()
    frame.locator(".ledger button", has_text="Input pipeline").click()
    card.locator(".body").wait_for()


def test_a_fix_is_copied_without_its_signs(page: SlowdownPage) -> None:
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    frame = page.frame()
    box = frame.locator("#card-input_pipeline .code").first
    shown = box.locator("pre").inner_text().splitlines()
    box.get_by_role("button", name="Copy").click()
    box.get_by_role("button", name="Copied").wait_for()
    copied = str(page.page.evaluate("navigator.clipboard.readText()"))
    before = [line for line in shown if line.startswith("# before: ")]
    assert before
    assert not any(line.startswith(("+", "-")) for line in shown)
    assert copied.splitlines() == [line for line in shown if line not in before]


def test_the_retraces_table_sorts(page: SlowdownPage) -> None:
    page.switch("retrace_ragged_shapes")
    table = page.frame().locator("#retraces table").first
    count = table.get_by_role("columnheader", name=re.compile("Count"))
    seconds = table.get_by_role("columnheader", name=re.compile("Seconds"))
    assert seconds.get_attribute("aria-sort") == "descending"
    count.get_by_role("button").click()
    page.frame().locator("th[aria-sort=descending]", has_text="Count").wait_for()
    assert seconds.get_attribute("aria-sort") is None


def test_runs_are_compared_term_by_term(page: SlowdownPage) -> None:
    frame = page.frame()
    panel = frame.locator("#compare")
    for run in ("healthy", "gc_pauses"):
        panel.locator("select").select_option(run)
        panel.get_by_role("button", name=re.compile(run)).wait_for()
    panel.get_by_text("3 runs side by side").wait_for()
    panel.get_by_label("Repeats of one program").check()
    panel.get_by_text("against 2 repeats").wait_for()
    panel.locator("thead th", has_text="Difference").wait_for()
    head = panel.locator("thead th").all_inner_texts()
    assert head[:5] == ["Per step", "2 repeats", "slow_map_stage", "Difference", "99.5% interval"]
    panel.get_by_role("button", name=re.compile("gc_pauses")).click()
    panel.get_by_text("against healthy").wait_for()
    panel.locator("table").wait_for()
    row = panel.locator("tbody tr", has_text="Input pipeline").inner_text()
    assert row.endswith("new")
    assert "One run a side" in panel.inner_text()


def test_what_is_folded_opens(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.get_by_role("button", name="Lost only").click()
    frame.get_by_role("button", name="Lost only", pressed=True).wait_for()
    frame.locator("#causes").get_by_role("button", name="Open all").click()
    frame.locator("#causes").get_by_role("button", name="Close all").wait_for()
    assert frame.locator("details.cause > .body").count() >= 2
    assert frame.locator("details.cause:not([open])").count() == 0
    frame.locator("#timeline").get_by_role("button", name="Show all").click()
    frame.locator("#timeline").get_by_text(re.compile("Showing all .* signals")).wait_for()
