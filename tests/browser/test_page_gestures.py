"""What a hand can do with the page, by mouse and by keyboard alone, and what the address keeps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

DEMO_LOGS = Path(__file__).parents[2] / "demo_logs"
RUNS: list[str] = list(json.loads((DEMO_LOGS / "expected.json").read_text()))
RUN = "slow_map_stage"
ROWS = 1200
DRAWN = 'document.querySelector("sd-timeline canvas").toDataURL()'
"""All that is drawn in the timeline."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    arguments = ["--logdir", str(DEMO_LOGS), "--load_fast=true"]
    with TensorBoardProcess(arguments, tmp_path_factory.mktemp("gestures")) as board:
        board.wait_until("each run is read", lambda: len(board.runs()) == len(RUNS))
        yield board


@pytest.fixture(scope="module")
def tab(board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    return open_page(board.url)


@pytest.fixture
def page(tab: SlowdownPage) -> Iterator[SlowdownPage]:
    """The page freshly opened at a run; it must have nothing to complain of after each test."""
    tab.complaints.clear()
    tab.open(RUN)
    yield tab
    assert tab.complaints == []
    assert len(tab.requested) == 1, tab.requested


def focus_timeline(page: SlowdownPage) -> None:
    page.frame().locator("sd-timeline").focus()


def test_dragging_selects_rows_and_says_what_changed_there(page: SlowdownPage) -> None:
    page.drag(0.6, 0.8)
    first, last = page.wait_changed("selection", None)
    assert abs(first - 0.6 * ROWS) < 5
    assert abs(last - 0.8 * ROWS) < 5
    panel = page.frame().locator("#changed")
    panel.locator("tbody tr").first.wait_for()
    assert f"steps {first:,}–{last:,} against the" in panel.inner_text()  # noqa: RUF001
    assert "Lost to input pipeline" in panel.locator("tbody").inner_text()
    panel.get_by_role("button", name="Clear selection").click()
    page.wait_kept("selection", None)
    panel.get_by_text("Drag over the timeline").wait_for()


def test_the_mouse_zooms_and_pans_and_plain_wheel_scrolls(page: SlowdownPage) -> None:
    page.wheel("Control", -200, share=0.25)
    view = page.wait_changed("rows", None)
    assert view[1] - view[0] < ROWS
    assert view[0] <= 0.25 * ROWS <= view[1]
    page.wheel("Shift", 300)
    panned = page.wait_changed("rows", view)
    assert panned[0] > view[0]
    assert panned[1] - panned[0] == pytest.approx(view[1] - view[0], abs=1)
    scrolled = page.frame().evaluate("scrollY")
    page.page.mouse.wheel(0, 150)
    page.frame().wait_for_function(f"scrollY > {scrolled}")
    assert page.kept("rows") == panned
    page.frame().get_by_role("button", name=re.compile("Whole run")).click()
    page.wait_kept("rows", None)


def test_a_double_click_zooms_to_the_selection(page: SlowdownPage) -> None:
    page.drag(0.3, 0.4)
    selection = page.wait_changed("selection", None)
    page.page.mouse.dblclick(*page.point(0.35))
    page.wait_kept("rows", selection)


def test_the_strip_pans_the_view(page: SlowdownPage) -> None:
    focus_timeline(page)
    page.press("+", "+")
    view = page.wait_changed("rows", None)
    strip = page.frame().locator("sd-overview")
    strip.scroll_into_view_if_needed()
    box = strip.bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] / 2
    page.page.mouse.move(box["x"] + box["width"] / 2, middle)
    page.page.mouse.down()
    page.page.mouse.move(box["x"] + box["width"] * 0.7, middle, steps=3)
    page.page.mouse.up()
    assert page.wait_changed("rows", view)[0] > view[0]


def test_the_keyboard_zooms_pans_selects_and_clears(page: SlowdownPage) -> None:
    focus_timeline(page)
    page.press("+")
    assert page.wait_changed("rows", None) == (ROWS / 4, ROWS * 3 / 4 - 1)
    page.press("End")
    assert page.wait_changed("rows", (ROWS // 4, ROWS * 3 // 4 - 1))[1] == ROWS - 1
    page.press("-")
    page.wait_kept("rows", None)
    page.press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")
    first, last = page.wait_changed("selection", None)
    assert last == ROWS - 1
    assert first < last
    page.press("Z")
    page.wait_kept("rows", (first, last))
    page.press("0")
    page.wait_kept("rows", None)
    page.press("Escape")
    page.wait_kept("selection", None)


def test_brackets_go_from_change_point_to_change_point(
    page: SlowdownPage, board: TensorBoardProcess
) -> None:
    points = board.slowdown("timeline", run=RUN).json["change_points"]
    rows = [point["row"] for point in points]
    focus_timeline(page)
    selected = None
    page.press("Home")
    for row in rows:
        page.press("]")
        selected = page.wait_changed("selection", selected)
        assert selected[0] == row
    page.press("[")
    earlier = page.wait_changed("selection", selected)
    assert earlier[0] == rows[-2]
    page.press("]")
    assert page.wait_changed("selection", earlier)[0] == rows[-1]
    page.frame().locator("#changed").get_by_text("against the").wait_for()


def test_the_axis_shows_steps_or_time(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.get_by_role("button", name="Time", exact=True).click()
    gutter = frame.locator("sd-timeline .g")
    gutter.get_by_text("Time since the start").wait_for()
    assert frame.get_by_role("button", name="Time", exact=True).get_attribute("aria-pressed")
    page.drag(0.4, 0.6)  # in time: the later steps are slower, so it is not the same part of rows
    first, _ = page.wait_changed("selection", None)
    assert abs(first - 0.4 * ROWS) > 20
    frame.get_by_role("button", name="Steps", exact=True).click()
    gutter.get_by_text("Step", exact=True).wait_for()


def test_hovering_reads_all_lanes_at_one_step(page: SlowdownPage) -> None:
    page.page.mouse.move(*page.point(0.9))
    frame = page.frame()
    tip = frame.locator("sd-timeline .tip")
    tip.get_by_text("Input pipeline").wait_for()
    cursor = frame.locator("sd-timeline .cur span").inner_text()
    assert abs(int(cursor.replace(",", "")) - 0.9 * ROWS) < 5
    values = frame.locator("sd-timeline [data-value]").all_inner_texts()
    assert len(values) >= 5
    assert all(re.search(r"\d|–", value) for value in values)  # noqa: RUF001
    page.page.mouse.move(*page.point(0.1))
    assert frame.locator("sd-timeline .cur span").inner_text() != cursor
    assert frame.locator("sd-timeline [data-value]").all_inner_texts() != values


def test_the_cursor_is_read_to_a_screen_reader(page: SlowdownPage) -> None:
    focus_timeline(page)
    page.press("End")
    live = page.frame().locator("sd-timeline [aria-live]")
    live.get_by_text(
        re.compile(r"^Steps [\d,]+.1,199: .* a step, .* of it input pipeline")
    ).wait_for(state="attached")


def test_a_card_leads_to_its_steps_and_to_what_changed(
    page: SlowdownPage, board: TensorBoardProcess
) -> None:
    (report,) = board.slowdown("report", run=RUN).json["runs"]
    begins = report["causes"][0]["steps"][0]  # steps are counted from 0: also the row
    frame = page.frame()
    card = frame.locator("#card-input_pipeline")
    onset = card.locator("> summary").inner_text()
    assert f"step {begins}" in onset
    card.get_by_role("button", name=re.compile(f"^Show steps {begins}")).click()
    first, last = page.wait_changed("rows", None)
    assert first <= begins
    assert last == ROWS - 1
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
    added = [line[1:].strip() for line in shown if line.startswith("+")]
    removed = [line for line in shown if line.startswith("-")]
    assert added
    assert all(line in copied for line in added)
    assert all(line not in copied for line in removed)


def test_the_address_survives_a_reload_and_the_way_to_a_colleague(
    page: SlowdownPage, board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    frame = page.frame()
    page.drag(0.6, 0.7)
    selection = page.wait_changed("selection", None)
    focus_timeline(page)
    page.press("Z")
    page.wait_kept("rows", selection)
    frame.locator("#compare select").select_option("healthy")
    frame.locator("#compare table").wait_for()
    frame.locator("#card-input_pipeline > summary").click()
    page.page.wait_for_url(re.compile("open=-input_pipeline"))
    address = page.page.url
    other = open_page(board.url)
    for visitor in (page, other):
        visitor.page.goto("about:blank")
        visitor.page.goto(address)
        shown = visitor.frame()
        shown.locator("#compare table").wait_for()
        shown.locator("#changed tbody tr").first.wait_for()
        assert visitor.page.url == address
        assert shown.locator("button.picker b").inner_text() == RUN
        shown.locator("#card-input_pipeline:not([open])").wait_for()
        whole = shown.get_by_role("button", name=re.compile("Whole run"))
        assert whole.is_enabled()
    assert other.complaints == []
    other.close()


def test_the_back_button_brings_the_run_before(page: SlowdownPage) -> None:
    page.switch("gc_pauses")
    assert page.first_cause() == "garbage_collection"
    page.page.go_back()
    page.frame().locator("button.picker b", has_text=RUN).wait_for()
    page.frame().locator("#card-input_pipeline").wait_for()


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
    panel.get_by_text("against 2 repeats").wait_for()
    panel.locator("table").wait_for()
    head = panel.locator("thead th").all_inner_texts()
    assert head[:5] == ["A step", "Before", "Now", "Difference", "between"]
    panel.get_by_role("button", name=re.compile("gc_pauses")).click()
    panel.get_by_text("against healthy").wait_for()
    panel.locator("table").wait_for()
    row = panel.locator("tbody tr", has_text="Input pipeline").inner_text()
    assert row.endswith("new")
    assert "One run a side" in panel.inner_text()


def test_the_timeline_is_a_table_too(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.get_by_role("button", name="As table").click()
    region = frame.get_by_role("region", name="Timeline as a table")
    region.wait_for()
    head = region.locator("thead").inner_text()
    assert all(name in head for name in ("Median", "Slowest", "Healthy", "Input pipeline"))
    assert region.locator("tbody tr").count() >= 100
    focus_timeline(page)
    page.press("Home")
    view = None
    for _ in range(4):
        page.press("+")
        view = page.wait_changed("rows", view)
    region.get_by_text("Every range in view").wait_for()


def test_what_is_folded_opens(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.get_by_role("button", name="Lost only").click()
    frame.get_by_role("button", name="Lost only", pressed=True).wait_for()
    frame.locator("#causes").get_by_role("button", name="Open all").click()
    frame.locator("#causes").get_by_role("button", name="Close all").wait_for()
    assert frame.locator("details.cause > .body").count() >= 2
    assert frame.locator("details.cause:not([open])").count() == 0
    frame.locator("#timeline").get_by_role("button", name="Show all").click()
    frame.locator("#timeline").get_by_text(re.compile("All .* signals are shown")).wait_for()


def test_the_picker_finds_a_run_by_name_and_by_result(page: SlowdownPage) -> None:
    frame = page.frame()
    focus_timeline(page)
    page.press("r")
    picker = frame.get_by_role("dialog", name="Choose a run")
    search = picker.get_by_role("searchbox")
    search.wait_for()
    assert search.evaluate("input => input === document.activeElement")
    assert picker.locator("tbody tr").count() == len(RUNS)
    search.fill("retrace")
    picker.locator("tbody tr").nth(2).wait_for(state="detached")
    names = picker.locator("tbody bdi").all_inner_texts()
    assert sorted(names) == ["retrace_python_number", "retrace_ragged_shapes"]
    search.fill("cause:garbage")
    picker.locator("bdi", has_text="gc_pauses").wait_for()
    search.fill("nothing like it")
    picker.get_by_text("No run matches").wait_for()
    picker.get_by_role("button", name="Clear filter").click()
    picker.locator("tbody tr").nth(len(RUNS) - 1).wait_for()
    search.focus()
    page.press("Escape")
    picker.wait_for(state="detached")
    assert frame.locator("button.picker").evaluate("one => one === document.activeElement")


def test_the_keyboard_alone_reaches_cause_fix_and_timeline(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.locator("button.picker").focus()
    page.press("Enter")
    frame.get_by_role("searchbox").wait_for()
    page.page.keyboard.type("gc_p")
    page.press("ArrowDown", "Enter")
    frame.locator("#card-garbage_collection").wait_for()
    reached: list[str] = []
    frame.locator("button.picker").focus()
    for _ in range(80):
        page.press("Tab")
        reached.append(
            str(
                frame.evaluate(
                    "(document.activeElement.ariaLabel ?? '') + document.activeElement.innerText"
                )
            )
        )
        outline = frame.evaluate(
            "(() => { const style = getComputedStyle(document.activeElement);"
            " return style.outlineStyle + style.boxShadow; })()"
        )
        assert outline != "nonenone", reached[-1]
        if reached[-1].startswith("Timeline of"):
            break
    order = [
        next(place for place, name in enumerate(reached) if wanted in name)
        for wanted in ("Copy link", "Garbage collection", "Copy", "Steps", "Timeline of")
    ]
    assert order[-1] == len(reached) - 1
    page.press("]")
    page.wait_changed("selection", None)


def test_the_theme_follows_tensorboards_switch_at_once(page: SlowdownPage) -> None:
    assert not page.is_dark()
    switch = page.page.get_by_role("button", name="Menu for changing light or dark theme")
    page.frame().evaluate(f"window.drawn = {DRAWN}")
    for theme, is_dark in (("dark", True), ("light", False)):
        switch.click()
        page.page.get_by_role("menuitem", name=re.compile(theme, re.IGNORECASE)).first.click()
        page.frame().wait_for_function(f"document.documentElement.dataset.theme === '{theme}'")
        assert page.is_dark() == is_dark
        same = "===" if not is_dark else "!=="
        page.frame().wait_for_function(f"{DRAWN} {same} window.drawn")


def test_a_server_that_goes_and_comes_back(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(board.url)
    frame = page.open(RUN)
    headline = page.headline()
    page.page.route("**/plugin/slowdown/**", lambda route: route.abort("connectionrefused"))
    page.page.locator("button.reload-button").click()
    banner = frame.get_by_text("TensorBoard does not answer")
    banner.wait_for()
    assert page.headline() == headline
    assert "not live" in page.text()
    page.page.unroute("**/plugin/slowdown/**")
    frame.get_by_role("button", name="Try now").click()
    banner.wait_for(state="detached")
    assert all("request failed" in one or "ERR_CONNECTION" in one for one in page.complaints)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage], scheme: str
) -> None:
    page = open_page(board.url, scheme=scheme)
    for run in RUNS:
        frame = page.open(run) if run == RUNS[0] else page.switch(run)
        opener = frame.locator("#causes").get_by_role("button", name="Open all")
        if opener.count():
            opener.click()
        assert page.violations() == [], run
    page.switch(RUN)
    page.drag(0.6, 0.7)
    frame.locator("#changed tbody tr").first.wait_for()
    frame.get_by_role("button", name="As table").click()
    frame.locator("#compare select").select_option("healthy")
    frame.locator("#compare table").wait_for()
    page.press("r")
    frame.get_by_role("searchbox").wait_for()
    assert page.violations() == []
    assert page.complaints == []
    page.close()
