"""axe-core, and nothing wider than the window, in the views that no other module opens."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browser.conftest import DEMO_RUN
from integration.tensorboard_process import TensorBoardProcess
from playwright.sync_api import Route, expect

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

NO_RUNS = {"runs": [], "other_runs": 3}
ROUTES = "**/plugin/slowdown/"
LOOKS = ((1440, "light"), (390, "dark"))


@pytest.fixture(scope="module")
def tab(demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    return open_page(demo_board.url)


@pytest.fixture
def page(tab: SlowdownPage) -> Iterator[SlowdownPage]:
    """The tab as it is; a test opens what it looks at."""
    tab.complaints.clear()
    yield tab
    tab.page.unroute_all()
    tab.page.set_viewport_size({"width": 1440, "height": 900})


def faults(page: SlowdownPage) -> list[str]:
    """What is wrong with the view, wide and light and then narrow and dark."""
    frame = page.frame()
    found: list[str] = []
    for width, theme in LOOKS:
        page.page.set_viewport_size({"width": width, "height": 844})
        page.page.evaluate(
            "dark => document.body.classList.toggle('dark-mode', dark)", theme == "dark"
        )
        frame.wait_for_function(
            "([width, theme]) => innerWidth <= width"
            " && document.documentElement.dataset.theme === theme",
            arg=[width, theme],
        )
        found += [f"{theme}, {width}: {one}" for one in page.violations()]
        wide = frame.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            found.append(f"{theme}: {wide} px wide in a window of {width}")
    return found


def test_a_logdir_without_runs(page: SlowdownPage) -> None:
    page.page.route(f"{ROUTES}runs*", lambda route: route.fulfill(json=NO_RUNS))
    page.open()
    assert page.headline() == "No step times in this logdir yet."
    assert faults(page) == []
    assert page.complaints == []


def test_a_server_that_fails(page: SlowdownPage) -> None:
    failing = {"status": 500, "json": {"error": "The records could not be read."}}
    page.page.route(f"{ROUTES}runs*", lambda route: route.fulfill(**failing))
    page.open()
    assert page.headline() == "The runs could not be read."
    assert faults(page) == []


def test_a_server_that_is_gone_and_panels_that_fail(page: SlowdownPage) -> None:
    page.page.route(f"{ROUTES}retraces*", lambda route: route.fulfill(status=500))
    frame = page.open(DEMO_RUN)
    page.page.route(f"{ROUTES}**", lambda route: route.abort("connectionrefused"))
    page.page.locator("button.reload-button").click()
    frame.get_by_text("TensorBoard hasn't responded").wait_for()
    frame.locator("#retraces").get_by_role("button", name="Try again").wait_for()
    assert faults(page) == []


def test_a_first_read_that_takes_long_says_what_is_read(page: SlowdownPage) -> None:
    held: list[Route] = []
    page.page.route(re.compile(r"/slowdown/report\?"), lambda route: held.append(route))
    page.page.goto("about:blank")
    page.page.goto(f"{page.url}#slowdown&p.slowdown.run={DEMO_RUN}")
    status = page.frame().get_by_role("status")
    expect(status).to_have_text(f"Reading and analyzing {DEMO_RUN}, 1,200 steps.")
    assert faults(page) == []
    for route in held:
        route.continue_()
    page.frame().locator("h1").wait_for()
    assert page.complaints == []


def test_the_list_of_keys_opens_over_each_view_and_gives_the_focus_back(
    page: SlowdownPage,
) -> None:
    frame = page.open(DEMO_RUN)
    page.focus_timeline()
    page.press("?")
    keys = frame.get_by_role("dialog", name="Keys and mouse")
    keys.get_by_text("previous and next change point").wait_for()
    page.press("r")
    assert frame.get_by_role("dialog").count() == 1, "no other key works meanwhile"
    assert faults(page) == []
    page.press("Escape")
    keys.wait_for(state="hidden")
    assert frame.evaluate("document.activeElement.localName") == "sd-timeline"
    frame.get_by_role("button", name="All runs").click()
    frame.get_by_role("heading", name="All runs").wait_for()
    page.press("?")
    keys.get_by_text("compare those chosen").wait_for()
    page.press("?")
    keys.wait_for(state="hidden")
    assert page.complaints == []


def test_runs_side_by_side(page: SlowdownPage) -> None:
    frame = page.open(DEMO_RUN)
    compare = frame.locator("#compare")
    for other, columns in (("healthy", "slow_map_stage"), ("gc_pauses", "gc_pauses")):
        compare.locator("select").select_option(other)
        compare.locator("th", has_text=columns).wait_for()
        assert faults(page) == []
    assert page.complaints == []


def test_a_report_in_one_file(
    page: SlowdownPage, demo_board: TensorBoardProcess, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    path.write_bytes(demo_board.slowdown("report.html", run=DEMO_RUN).body)
    page.page.goto(path.as_uri())
    page.page.wait_for_selector("h1")
    expect(page.page.locator("[aria-busy=true]")).to_have_count(0)
    for width, scheme in LOOKS:
        page.page.set_viewport_size({"width": width, "height": 844})
        page.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        assert page.violations(page.page.main_frame) == []
    page.page.emulate_media(color_scheme="light")
