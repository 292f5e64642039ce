"""What a hand can do with the timeline, by mouse and by keyboard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.conftest import DEMO_ROWS, DEMO_RUN
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser


def test_dragging_selects_rows_and_says_what_changed_there(page: SlowdownPage) -> None:
    first, last = page.drag(0.6, 0.8)
    assert abs(first - 0.6 * DEMO_ROWS) < 5
    assert abs(last - 0.8 * DEMO_ROWS) < 5
    panel = page.frame().locator("#changed")
    panel.locator("tbody tr").first.wait_for()
    assert f"steps {first:,}–{last:,} against the" in panel.inner_text()  # noqa: RUF001
    assert "Lost to input pipeline" in panel.locator("tbody").inner_text()
    panel.get_by_role("button", name="Clear selection").click()
    page.wait_kept("selection", None)
    panel.get_by_text("Select steps on the timeline").wait_for()


def test_the_mouse_zooms_and_pans_and_plain_wheel_scrolls(page: SlowdownPage) -> None:
    page.wheel("Control", -200, share=0.25)
    view = page.wait_changed("rows", None)
    assert view[1] - view[0] < DEMO_ROWS
    assert view[0] <= 0.25 * DEMO_ROWS <= view[1]
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


def test_a_double_click_zooms_to_the_selection_or_the_whole_run_and_back_undoes_it(
    page: SlowdownPage,
) -> None:
    selection = page.drag(0.3, 0.4)
    page.page.mouse.dblclick(*page.point(0.35))
    page.wait_kept("rows", selection)
    page.focus_timeline()
    page.press("Escape")
    page.wait_kept("selection", None)
    page.page.mouse.dblclick(*page.point(0.5))
    page.wait_kept("rows", None)
    page.page.go_back()
    page.wait_kept("rows", selection)
    page.frame().wait_for_function(
        "from => document.querySelector('sd-timeline').input.view.from === from", arg=selection[0]
    )


def test_the_strip_pans_the_view(page: SlowdownPage) -> None:
    page.focus_timeline()
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
    page.focus_timeline()
    page.press("+")
    assert page.wait_changed("rows", None) == (DEMO_ROWS / 4, DEMO_ROWS * 3 / 4 - 1)
    page.press("End")
    assert page.wait_changed("rows", (DEMO_ROWS // 4, DEMO_ROWS * 3 // 4 - 1))[1] == DEMO_ROWS - 1
    page.press("-")
    page.wait_kept("rows", None)
    page.press("Shift+ArrowLeft", "Shift+ArrowLeft", "Shift+ArrowLeft")
    first, last = page.selected()
    assert last == DEMO_ROWS - 1
    assert first < last
    page.press("Z")
    page.wait_kept("rows", (first, last))
    page.press("0")
    page.wait_kept("rows", None)
    page.press("Escape")
    page.wait_kept("selection", None)


def test_brackets_go_from_change_point_to_change_point(
    page: SlowdownPage, demo_board: TensorBoardProcess
) -> None:
    points = demo_board.slowdown("timeline", run=DEMO_RUN).json["change_points"]
    rows = [point["row"] for point in points]
    page.focus_timeline()
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
    # in time: the later steps are slower, so it is not the same part of rows
    first, _ = page.drag(0.4, 0.6)
    assert abs(first - 0.4 * DEMO_ROWS) > 20
    frame.get_by_role("button", name="Steps", exact=True).click()
    gutter.get_by_text("Step", exact=True).wait_for()


def test_hovering_reads_all_lanes_at_one_step(page: SlowdownPage) -> None:
    page.page.mouse.move(*page.point(0.9))
    frame = page.frame()
    tip = frame.locator("sd-timeline .tip")
    tip.get_by_text("Input pipeline").wait_for()
    cursor = frame.locator("sd-timeline .cur span").inner_text()
    assert abs(int(cursor.replace(",", "")) - 0.9 * DEMO_ROWS) < 5
    values = frame.locator("sd-timeline [data-value]").all_inner_texts()
    assert len(values) >= 5
    assert all(re.search(r"\d|–", value) for value in values)  # noqa: RUF001
    page.page.mouse.move(*page.point(0.1))
    assert frame.locator("sd-timeline .cur span").inner_text() != cursor
    assert frame.locator("sd-timeline [data-value]").all_inner_texts() != values


def test_the_cursor_is_read_to_a_screen_reader(page: SlowdownPage) -> None:
    page.focus_timeline()
    page.press("End")
    live = page.frame().locator("sd-timeline [aria-live]")
    live.get_by_text(
        re.compile(r"^Steps [\d,]+.1,199: .* per step, .* of it input pipeline")
    ).wait_for(state="attached")


def test_the_timeline_is_a_table_too(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.get_by_role("button", name="As table").click()
    region = frame.get_by_role("region", name="Timeline as a table")
    region.wait_for()
    frame.wait_for_function(
        "(() => { const box = document.activeElement.getBoundingClientRect();"
        " return document.activeElement.id === 'timeline-table' && box.bottom <= innerHeight + 1;"
        " })()"
    )
    head = region.locator("thead").inner_text()
    assert all(name in head for name in ("Median", "Slowest", "Healthy", "Input pipeline"))
    assert region.locator("tbody tr").count() >= 100
    page.focus_timeline()
    page.press("Home")
    view = None
    for _ in range(4):
        page.press("+")
        view = page.wait_changed("rows", view)
    region.get_by_text("Every range in view").wait_for()


def test_ticks_say_what_they_are_and_lead_there(tab: SlowdownPage) -> None:
    frame = tab.open("retrace_python_number")
    plot = tab.plot()
    box = plot.bounding_box()
    assert box is not None
    row = frame.locator("sd-timeline .g > div", has_text="Retraces").bounding_box()
    assert row is not None
    down = row["y"] + row["height"] / 2 - box["y"]
    steps = frame.evaluate(
        "document.querySelector('sd-timeline').input.whole.timeline.marks.retraces.map(m => m.row)"
    )
    rows = frame.evaluate("document.querySelector('sd-timeline').input.whole.timeline.rows")
    at = tab.point((steps[-1] + 0.5) / rows, down)
    tab.page.mouse.move(*at)
    tip = frame.locator("sd-timeline .tip")
    tip.get_by_text(re.compile(r"^Retraces.*train_step, .*: .* \u2192 .*, .* m?s$")).wait_for()
    tab.page.mouse.click(*at)
    tab.wait_address("open=trace")
    frame.locator("#retraces tr.sel").wait_for()


def test_a_selection_has_its_sum_beside_it(page: SlowdownPage) -> None:
    first, last = page.drag(0.7, 0.8)
    total = page.frame().locator(".tl-sum")
    total.get_by_text(
        re.compile(rf"^Selected: {last - first + 1} steps, mean .* m?s; .* lost to input pipeline")
    ).wait_for()


def test_keys_and_files_of_the_timeline(page: SlowdownPage) -> None:
    frame = page.frame()
    page.focus_timeline()
    page.press("w")
    page.wait_changed("rows", None)
    page.press("m")
    assert page.wait_changed("selection", None) == page.kept("rows")
    page.press("0")
    frame.get_by_role("button", name="As table").click()
    with page.page.expect_download() as table:
        frame.get_by_role("button", name="CSV").click()
    lines = Path(table.value.path()).read_text().splitlines()
    assert lines[0].startswith(
        '"Steps","Mean (s)","Median (s)","Slowest (s)","Healthy (s)","Input pipeline (s)"'
    )
    data = frame.evaluate("document.querySelector('sd-timeline').input.detail.timeline.row.length")
    assert len(lines) == 1 + data
    with page.page.expect_download() as picture:
        frame.get_by_role("button", name="PNG").click()
    assert Path(picture.value.path()).read_bytes().startswith(b"\x89PNG")


def test_slower_since_a_step_is_answered_in_one_sentence(page: SlowdownPage) -> None:
    frame = page.frame()
    field = frame.get_by_label("Slower since step")
    begins = 2 * DEMO_ROWS // 3
    field.fill(str(begins))
    field.press("Enter")
    answer = frame.locator(".ask output")
    frame.locator(".ask output", has_text=re.compile("(Yes, s|Not s|S)lower")).wait_for()
    assert f"since step {begins:,}" in answer.inner_text()
    page.wait_address(f"since={begins}")
    page.wait_kept("selection", (begins, DEMO_ROWS - 1))
    page.page.go_back()
    page.wait_kept("selection", None)
    frame.wait_for_function("document.querySelector('.ask output').innerText.trim() === ''")
    assert field.input_value() == ""


def test_the_legend_shows_one_cause_alone_and_adds_others(page: SlowdownPage) -> None:
    frame = page.frame()
    legend = frame.locator(".legend button")
    legend.nth(1).wait_for()
    pressed = frame.locator('.legend button[aria-pressed="true"]')
    assert pressed.count() == legend.count()
    name = legend.first.inner_text().split("\n")[-1]
    legend.first.click()
    frame.locator('.legend button[aria-pressed="false"]').first.wait_for()
    assert pressed.count() == 1
    assert name in pressed.inner_text()
    page.wait_address("layers=")
    legend.last.click(modifiers=["Control"])
    frame.wait_for_function(
        "document.querySelectorAll('.legend button[aria-pressed=\"true\"]').length === 2"
    )
    legend.first.click()
    legend.first.click()
    frame.wait_for_function(
        "document.querySelectorAll('.legend button[aria-pressed=\"false\"]').length === 0"
    )


def test_the_timeline_is_saved_in_lines(page: SlowdownPage, tmp_path: Path) -> None:
    with page.page.expect_download() as saving:
        page.frame().get_by_role("button", name="SVG").click()
    saving.value.save_as(tmp_path / "timeline.svg")
    picture = (tmp_path / "timeline.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg ")
    assert "Input pipeline</text>" in picture
    assert ">Step time</text>" in picture
    assert picture.count("<path") > 10
