"""The table of all runs in a real browser: right counts, orders, choice, keyboard, link, axe."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from integration.tensorboard_process import TensorBoardProcess
from many_runs import EXPERIMENTS, copy_recordings, write_many
from run_filters import count_all

from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.report.judged_runs import report

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

GENERATED = 60
RECORDED = 20
RUNS = GENERATED + RECORDED
STEPS = 400
MISSING = "\u2013"
"""Where nothing was measured."""

TWO_FRAMES = "new Promise((d) => requestAnimationFrame(() => requestAnimationFrame(d)))"
"""Until what was typed is drawn."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    folder = tmp_path_factory.mktemp("many")
    write_many(folder / "logs", GENERATED, steps=STEPS)
    copy_recordings(folder / "logs", RECORDED)
    arguments = ["--logdir", str(folder / "logs"), "--load_fast=true"]
    with TensorBoardProcess(arguments, folder) as board:
        board.wait_until("each run is read", lambda: len(board.runs()) == RUNS)
        yield board


@pytest.fixture(scope="module")
def reports(board: TensorBoardProcess) -> dict[str, Report]:
    return {one.run: one for one in report(board.arguments[1])}


@pytest.fixture(scope="module")
def tab(board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    return open_page(board.url)


@pytest.fixture
def page(tab: SlowdownPage) -> Iterator[SlowdownPage]:
    tab.complaints.clear()
    frame = tab.open()
    frame.get_by_text(f"{RUNS} runs.", exact=True).wait_for()
    yield tab
    assert tab.complaints == []


def found(page: SlowdownPage, filter_: str) -> int:
    """How many runs the table says match."""
    frame = page.frame()
    frame.locator(".list-filter").fill(filter_)
    frame.evaluate(TWO_FRAMES)
    status = frame.locator(".list-status").get_by_text(re.compile(rf" of {RUNS} runs match\.$"))
    return int(status.inner_text().split()[0])


def named(page: SlowdownPage) -> str:
    """The run that is shown: the button leaves out the middle of a long name."""
    title = str(page.frame().locator("button.picker").get_attribute("title"))
    return title.removesuffix(" (choose a run: R)")


def test_all_runs_are_what_one_sees_first_and_each_has_its_report(
    page: SlowdownPage, reports: dict[str, Report]
) -> None:
    assert page.headline() == "All runs"
    frame = page.frame()
    assert frame.locator("tr.group").count() == len(EXPERIMENTS) + 1
    rows = frame.locator("tbody tr:not(.group)")
    assert rows.count() == RUNS
    for row in (rows.nth(place) for place in range(0, RUNS, 7)):
        name = str(row.locator("a.run").get_attribute("data-run"))
        cells = row.locator("td").all_inner_texts()
        expected = reports[name]
        assert cells[2].split(" ", 1)[1] == {"not_enough_steps": "too few steps"}.get(
            expected.verdict, expected.verdict
        )
        if expected.verdict == "not_enough_steps":
            assert cells[3].strip() == MISSING
        else:
            share = 100 * expected.lost_fraction
            assert float(cells[3].split("%")[0]) == pytest.approx(share, abs=0.06)
    heads = [head.split(" ↓")[0] for head in frame.locator("thead th button").all_inner_texts()]
    assert heads[:12] == [
        "Run", "Verdict", "Lost", "First cause", "Since step", "Per step", "Step time",
        "Throughput", "Steps", "Written", "batch size", "learning rate",
    ]  # fmt: skip
    assert {"tensorflow", "items per step"} < set(heads[12:])


def test_filters_see_all_runs(page: SlowdownPage, reports: dict[str, Report]) -> None:
    def count(condition: Callable[[Report], bool]) -> int:
        return sum(condition(one) for one in reports.values())

    expected = {
        **count_all(reports.values()),
        "learning_rate<0.003": count(lambda one: bool(re.search("/lr0.00(1|03)-", one.run))),
        "resnet batch_size=64 slowdown": count(
            lambda one: "resnet" in one.run and "-bs64-" in one.run and one.verdict == "slowdown"
        ),
    }
    assert len({*expected.values()}) > 5
    assert sum(number > 0 for number in expected.values()) > 12
    assert {filter_: found(page, filter_) for filter_ in expected} == expected
    assert (
        page.frame().locator("tbody tr:not(.group)").count()
        == expected["resnet batch_size=64 slowdown"]
    )


def test_a_click_on_a_head_orders_and_the_next_turns_it_around(
    page: SlowdownPage, reports: dict[str, Report]
) -> None:
    frame = page.frame()
    frame.get_by_label("By experiment").uncheck()
    shares = frame.locator("td .figure")
    worst = max(one.lost_fraction for one in reports.values() if one.verdict != "not_enough_steps")
    frame.get_by_role("button", name="Lost").click()
    frame.locator("th[aria-sort=descending]", has_text="Lost").wait_for()
    assert float(shares.first.inner_text().split("%")[0]) == pytest.approx(100 * worst, abs=0.06)
    assert shares.last.inner_text() == MISSING
    frame.get_by_role("button", name="Lost").click()
    frame.locator("th[aria-sort=ascending]", has_text="Lost").wait_for()
    assert shares.first.inner_text() == "0.0%"
    assert shares.last.inner_text() == MISSING
    assert frame.locator("th[aria-sort=ascending]").inner_text() == "Lost ↑"
    page.wait_address("sort=lost")


def test_a_choice_is_compared_and_back_returns_to_the_table(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.locator(".list-filter").fill("name:bert")
    frame.evaluate(TWO_FRAMES)
    frame.locator(".list-filter").press("ArrowDown")
    page.press("x", "ArrowDown", "x")
    frame.locator("tr.sel").nth(1).wait_for()
    page.wait_address("pick=.*pick=")
    address = page.page.url
    chosen = frame.locator("tr.sel a.run").evaluate_all("all => all.map((a) => a.dataset.run)")
    page.press("c")
    frame.locator("#compare table").wait_for()
    first = frame.locator("#compare ul.headlines li").first.inner_text()
    assert re.fullmatch(r"batch size: \d+ to \d+", first), "settings come first"
    assert named(page) in chosen
    (other,) = set(chosen) - {named(page)}
    chip = frame.locator("#compare header button bdi")
    assert chip.inner_text().endswith(other[-10:]), "runs differ at the end of their names"
    frame.wait_for_function(
        "document.getElementById('compare').getBoundingClientRect().top < innerHeight - 200"
    )
    page.page.go_back()
    frame.get_by_role("heading", name="All runs").wait_for()
    assert page.page.url == address
    frame.locator("tr.sel").nth(1).wait_for()
    page.page.reload()
    page.frame().locator("tr.sel").nth(1).wait_for()
    assert page.frame().locator(".list-filter").input_value() == "name:bert"


def test_the_keyboard_reaches_a_run(page: SlowdownPage) -> None:
    frame = page.frame()
    frame.locator("a.run").first.focus()
    page.press("/")
    page.page.keyboard.type("seed0007")
    frame.evaluate(TWO_FRAMES)
    page.press("Enter", "Enter")
    frame.locator("button.picker b").wait_for()
    assert "seed0007" in named(page)
    frame.get_by_role("button", name="All runs").click()
    frame.get_by_role("heading", name="All runs").wait_for()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_no_violation(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage], scheme: str, width: int
) -> None:
    page = open_page(board.url, scheme=scheme, width=width)
    frame = page.open()
    frame.locator("svg.pace").first.wait_for()
    frame.locator("input[type=checkbox]").nth(2).check()
    assert page.violations() == []
    assert frame.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
