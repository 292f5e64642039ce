"""What stands where a reader looks: nothing glued, cut, covered, repeated, or out of step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from browser.conftest import DEMO_RUN
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from collections.abc import Callable

    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

BOXES = "all => all.map((one) => one.getBoundingClientRect()).map((box) => [box.top, box.bottom])"


def test_a_bracket_on_a_fresh_page_selects_the_first_change_point(
    page: SlowdownPage, demo_board: TensorBoardProcess
) -> None:
    points = demo_board.slowdown("timeline", run=DEMO_RUN).json["change_points"]
    assert len(points) > 1
    page.focus_timeline()
    page.press("]")
    assert page.wait_changed("selection", None)[0] == points[0]["row"]


def test_the_bar_marks_the_panel_that_was_asked_for(page: SlowdownPage) -> None:
    frame = page.frame()
    links = frame.locator(".bar-top nav a")
    for name in links.all_inner_texts():
        links.get_by_text(name, exact=True).click()
        frame.locator(".bar-top nav a[aria-current]", has_text=re.compile(f"^{name}$")).wait_for()
        assert links.and_(frame.locator("[aria-current]")).count() == 1


def test_the_tooltip_leaves_the_step_times_in_sight(page: SlowdownPage) -> None:
    page.page.mouse.move(*page.point(0.3))
    frame = page.frame()
    tip = frame.locator("sd-timeline .tip")
    tip.wait_for()
    lines = tip.locator("> div").evaluate_all(BOXES)
    assert max(bottom - top for top, bottom in lines[1:]) < 24  # each stands on one line
    ((_, bottom),) = tip.evaluate_all(BOXES)
    ((below, _),) = frame.locator("sd-timeline .g > div", has_text="Step time").evaluate_all(BOXES)
    assert bottom <= below + 1


def test_a_sign_of_the_sum_stands_beside_its_term(
    demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(demo_board.url, width=390)
    frame = page.open(DEMO_RUN)
    for term in frame.locator(".ledger .term").all():
        (sign,) = term.locator(".op").evaluate_all(BOXES)
        (name,) = term.locator(".it").evaluate_all(BOXES)
        assert name[0] < (sign[0] + sign[1]) / 2 < name[1]
    page.close()


def test_a_comparison_has_rows_alike_and_says_what_its_marks_are(page: SlowdownPage) -> None:
    frame = page.frame()
    panel = frame.locator("#compare")
    panel.locator("select").select_option("healthy")
    panel.locator("table").wait_for()
    ((_, over),) = panel.locator(".headline").evaluate_all(BOXES)
    ((top, _),) = panel.locator("table").evaluate_all(BOXES)
    assert top - over >= 4
    rows = panel.locator("tbody tr").evaluate_all(BOXES)
    heights = [bottom - top for top, bottom in rows]
    assert max(heights) - min(heights) <= 1
    assert panel.locator("tfoot tr .db i").count() == 2
    assert "99.5% interval" in panel.locator("thead").inner_text()
    assert "Bar: difference; line: its 99.5% interval." in panel.inner_text()


def test_nothing_is_shown_of_a_start_that_cost_nothing_or_of_memory_that_nobody_used(
    page: SlowdownPage,
) -> None:
    frame = page.switch("gc_pauses")
    assert frame.locator("#warmup").count() == frame.locator("#card-warm_up").count()
    peaks = frame.locator("#memory tbody td:nth-child(4)").all_inner_texts()
    assert peaks
    assert "0 B" not in peaks
