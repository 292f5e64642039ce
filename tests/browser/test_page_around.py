"""The page in its surroundings: address, run picker, keyboard alone, theme, server, axe."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import pytest
from browser.conftest import DEMO_RUN, DEMO_RUNS
from integration.tensorboard_process import TensorBoardProcess

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

DRAWN = 'document.querySelector("sd-timeline canvas").toDataURL()'
"""All that is drawn in the timeline."""


def test_the_address_survives_a_reload_and_the_way_to_a_colleague(
    page: SlowdownPage, demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    frame = page.frame()
    selection = page.drag(0.6, 0.7)
    page.focus_timeline()
    page.press("Z")
    page.wait_kept("rows", selection)
    frame.locator("#compare select").select_option("healthy")
    frame.locator("#compare table").wait_for()
    frame.locator("#card-input_pipeline > summary").click()
    page.page.wait_for_url(re.compile("open=-input_pipeline"))
    address = page.page.url
    other = open_page(demo_board.url)
    for visitor in (page, other):
        visitor.page.goto("about:blank")
        visitor.page.goto(address)
        shown = visitor.frame()
        shown.locator("#compare table").wait_for()
        shown.locator("#changed tbody tr").first.wait_for()
        assert visitor.page.url == address
        assert shown.locator("button.picker b").inner_text() == DEMO_RUN
        shown.locator("#card-input_pipeline:not([open])").wait_for()
        whole = shown.get_by_role("button", name=re.compile("Whole run"))
        assert whole.is_enabled()
    assert other.complaints == []
    other.close()


def test_the_back_button_brings_the_run_before(page: SlowdownPage) -> None:
    page.switch("gc_pauses")
    assert page.first_cause() == "garbage_collection"
    page.page.go_back()
    page.frame().locator("button.picker b", has_text=DEMO_RUN).wait_for()
    page.frame().locator("#card-input_pipeline").wait_for()


def test_back_and_forward_go_through_ranges_and_runs(page: SlowdownPage) -> None:
    tab = page.page
    selection = page.drag(0.3, 0.4)
    page.page.mouse.dblclick(*page.point(0.35))
    page.wait_kept("rows", selection)
    page.frame().get_by_role("button", name="Lost only").click()
    page.wait_address("show=lost")
    page.press("r")
    page.frame().locator(".pop input").fill("gc_pauses")
    page.frame().locator(".pop tbody tr").nth(1).wait_for(state="detached")
    page.press("Enter")
    page.frame().locator("button.picker b", has_text="gc_pauses").wait_for()
    page.wait_address("run=gc_pauses")
    tab.go_back()
    page.frame().locator("button.picker b", has_text=DEMO_RUN).wait_for()
    page.wait_kept("rows", selection)
    lost_only = page.frame().locator("[aria-pressed=true]", has_text="Lost only")
    lost_only.wait_for()
    tab.go_back()
    page.wait_kept("rows", None)
    page.wait_kept("selection", selection)
    lost_only.wait_for(state="detached")
    tab.go_forward()
    page.wait_kept("rows", selection)
    tab.reload()
    page.frame().locator("[aria-pressed=true]", has_text="Lost only").wait_for()


def test_the_picker_finds_a_run_by_name_and_by_result(page: SlowdownPage) -> None:
    frame = page.frame()
    page.focus_timeline()
    page.press("r")
    picker = frame.get_by_role("dialog", name="Choose a run")
    search = picker.get_by_role("searchbox")
    search.wait_for()
    assert search.evaluate("input => input === document.activeElement")
    assert picker.locator("tbody tr").count() == len(DEMO_RUNS)
    search.fill("retrace")
    picker.locator("tbody tr").nth(2).wait_for(state="detached")
    names = picker.locator("tbody bdi").all_inner_texts()
    assert sorted(names) == ["retrace_python_number", "retrace_ragged_shapes"]
    search.fill("cause:garbage")
    picker.locator("bdi", has_text="gc_pauses").wait_for()
    search.fill("nothing like it")
    picker.get_by_text("No run matches").wait_for()
    picker.get_by_role("button", name="Clear filter").click()
    picker.locator("tbody tr").nth(len(DEMO_RUNS) - 1).wait_for()
    search.focus()
    page.press("Escape")
    picker.wait_for(state="detached")
    assert frame.locator("button.picker").evaluate("one => one === document.activeElement")


def test_the_keyboard_alone_reaches_cause_fix_and_timeline(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.locator("button.picker").focus()
    page.press("Enter")
    picker = frame.get_by_role("dialog", name="Choose a run")
    picker.locator("input:focus").wait_for()
    page.page.keyboard.type("gc_p")
    picker.locator("tbody tr").nth(1).wait_for(state="detached")  # the list follows the words
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


def test_few_stops_of_the_keyboard_lead_from_the_verdict_to_the_copied_fix(
    page: SlowdownPage,
) -> None:
    frame = page.frame()
    frame.locator(".lead a").first.focus()
    page.press("Enter")
    card = frame.locator("#card-input_pipeline")
    frame.wait_for_function(
        "document.activeElement === document.querySelector('#card-input_pipeline > summary')"
    )
    copies = "document.activeElement.closest('#card-input_pipeline .code button') !== null"
    stops = 1
    while not frame.evaluate(copies):
        page.press("Tab")
        stops += 1
        assert stops <= 12
    page.press("Enter")
    card.locator(".code button").first.get_by_text(re.compile("Copied|Press")).wait_for()


def test_five_questions_have_their_answer_within_two_actions(page: SlowdownPage) -> None:
    frame = page.frame()
    why = frame.locator("h1").inner_text()
    assert re.fullmatch(
        r"[\d.]+ s of [\d.]+ s lost \(\d+%\)( to|\. Biggest cause:) input wait\.", why
    )
    lead = frame.locator(".lead").inner_text()
    since_when = r"^Input pipeline cost [\d.]+ s, since step 700\."
    assert re.search(since_when, lead)
    code_or_machine = "Every named cause is in the program itself."
    assert code_or_machine in lead
    fix = frame.locator("details.cause[open] .advice").first
    what = fix.locator("p").first.inner_text()
    assert what.startswith("Run the slow stage")
    assert "num_parallel_calls" in fix.locator("pre").inner_text()
    # The run with the defect against the one without it: the first action, then the choice.
    frame.locator("#compare select").select_option("healthy")
    frame.locator("#compare table").wait_for()
    did_it_help = frame.locator("#compare .headline").inner_text()
    assert re.match(r"Steps are \d+% slower: [\d.]+ ms instead of [\d.]+ ms; .*input", did_it_help)
    row = frame.locator("#compare tbody tr", has_text="Input pipeline").inner_text()
    assert row.endswith("new")


def test_time_that_other_processes_took_is_named_as_theirs(
    tmp_path: Path, open_page: Callable[..., SlowdownPage]
) -> None:
    recording = Path(__file__).parents[1] / "recordings" / "cpu_contention"
    shutil.copytree(recording / "slowdown", tmp_path / "logs" / "run1" / "slowdown")
    with TensorBoardProcess(["--logdir", str(tmp_path / "logs")], tmp_path) as board:
        board.wait_until("the run is read", lambda: bool(board.runs()))
        page = open_page(board.url)
        frame = page.open("run1")
        assert "lost to other processes competing for the CPU." in page.headline()
        code_or_machine = "Every named cause is in the program itself."
        assert code_or_machine not in frame.locator("#verdict").inner_text()
        page.close()


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
    demo_board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    page = open_page(demo_board.url)
    frame = page.open(DEMO_RUN)
    headline = page.headline()
    page.page.route("**/plugin/slowdown/**", lambda route: route.abort("connectionrefused"))
    page.page.locator("button.reload-button").click()
    banner = frame.locator(".banner", has_text="TensorBoard hasn't responded")
    banner.wait_for()
    assert page.headline() == headline
    assert "finished" in frame.locator(".live").inner_text()
    selection = page.drag(0.6, 0.7)
    changed = frame.locator("#changed")
    changed.get_by_text("TensorBoard hasn't responded.").wait_for()
    page.page.unroute("**/plugin/slowdown/**")
    frame.get_by_role("button", name="Try now").click()
    banner.wait_for(state="detached")
    changed.locator("tbody tr").first.wait_for()
    assert page.kept("selection") == selection
    assert all("request failed" in one or "ERR_CONNECTION" in one for one in page.complaints)
    page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_violation(
    demo_board: TensorBoardProcess,
    open_page: Callable[..., SlowdownPage],
    scheme: str,
    request: pytest.FixtureRequest,
) -> None:
    of_colours = scheme == "dark" and not request.config.getoption("--all")
    page = open_page(demo_board.url, scheme=scheme)
    for run in DEMO_RUNS:
        frame = page.open(run) if run == DEMO_RUNS[0] else page.switch(run)
        opener = frame.locator("#causes").get_by_role("button", name="Open all")
        if opener.count():
            opener.click()
        assert page.violations(of_colours=of_colours) == [], run
    page.switch(DEMO_RUN)
    page.drag(0.6, 0.7)
    frame.locator("#changed tbody tr").first.wait_for()
    frame.get_by_role("button", name="As table").click()
    frame.locator("#compare select").select_option("healthy")
    frame.locator("#compare table").wait_for()
    page.press("r")
    frame.get_by_role("searchbox").wait_for()
    assert page.violations(of_colours=of_colours) == []
    assert page.complaints == []
    page.close()


def test_a_screen_reader_hears_verdict_and_causes(page: SlowdownPage) -> None:
    """The roles and names that the browser hands to it, in their order."""
    frame = page.frame()
    verdict = frame.locator("#verdict").aria_snapshot()
    heading = re.search(r'heading "(.*?)" \[level=1\]', verdict)
    assert heading is not None
    assert heading[1] == page.headline()
    assert re.search(r'group "Where [\d.,]+ s went"', verdict)
    assert re.search(r'button "Healthy [\d.]+%, [\d.,]+ s"', verdict)
    assert re.search(r'button "(In )?Input pipeline [\d.]+%, [\d.,]+ s"', verdict)
    causes = frame.locator("#causes").aria_snapshot()
    first = causes[causes.index('heading "Input pipeline" [level=3]') :]
    order = [first.index(part) for part in ("since step", "High: timed", "listitem", "Copy")]
    assert order == sorted(order)
    live = frame.locator("sd-timeline [aria-live=polite]")
    assert live.count() == 1


@pytest.mark.parametrize(("preference", "moves"), [("reduce", False), ("no-preference", True)])
def test_nothing_moves_for_readers_who_want_no_motion(
    page: SlowdownPage, preference: Literal["reduce", "no-preference"], moves: bool
) -> None:
    page.page.emulate_media(reduced_motion=preference)
    durations = page.frame().evaluate(
        "[...document.querySelectorAll('*')].map((one) => getComputedStyle(one))"
        ".filter((style) => style.transitionProperty !== 'none'"
        " && parseFloat(style.transitionDuration) > 0 || style.animationName !== 'none').length"
    )
    page.page.emulate_media(reduced_motion="reduce")
    assert (durations > 0) == moves
