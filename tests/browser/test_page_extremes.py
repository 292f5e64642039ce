"""Runs at the edge of what there can be, all in one logdir behind a path prefix."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import event_files
import pytest
from integration.tensorboard_process import TensorBoardProcess

from tb_slowdown_plugin.records.types import Chunk, CollectorState, Environment

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = pytest.mark.browser

MANY = 500
NAMES = {
    "long": "/".join(["sweep-" + "x" * 92] * 3) + "/end",
    "right_to_left": "ריצה_أولى",
    "emoji": "🚀 run 🐌",
    "markup": "<b onmouseover='alert(1)'>\"run\" & 'co'<script>1<|script>",
    "control": "bell\x07and\x1bescape",
}
COLLECTORS = (
    CollectorState("tracing", "failed", "<img src=x onerror=alert(1)> raised"),
    CollectorState("gc", "running"),
    CollectorState("allocator", "unavailable", "no device reports allocator numbers"),
)


@dataclass
class Board:
    process: TensorBoardProcess
    live: Path
    """The event file of a run that is written right now."""
    later: list[Chunk]
    """Its chunks that are not written yet."""


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Board]:
    folder = tmp_path_factory.mktemp("extremes")
    logs = folder / "logs"

    def write(run: str, chunks: list[Chunk]) -> Path:
        return event_files.write_chunks(logs / run / "slowdown", chunks)

    healthy = event_files.make_steps(400, seed=1)
    write("one_step", event_files.split(event_files.make_steps(1)))
    write("few_steps", event_files.split(event_files.make_steps(5)))
    chunks = event_files.split(event_files.make_steps(2000, seed=2))
    write("chunks_missing", [*chunks[:3], *chunks[5:]])
    write("collectors", event_files.split(healthy, environment=Environment(collectors=COLLECTORS)))
    for name in NAMES.values():
        write(name, event_files.split(healthy))
    for number in range(MANY):
        write(f"many/run{number:03}", event_files.split(event_files.make_steps(20)))
    began = time.time() - 300.0
    growing = event_files.split(event_files.make_steps(2000, started=began), started=began)
    live = write("live", growing[:4])
    arguments = ["--logdir", str(logs), "--load_fast=true"]
    with TensorBoardProcess(arguments, folder, path_prefix="/team/board") as process:
        expected = MANY + len(NAMES) + 5
        process.wait_until("each run is read", lambda: len(process.runs()) == expected)
        yield Board(process, live, growing[4:])


@pytest.fixture(scope="module")
def tab(board: Board, open_page: Callable[..., SlowdownPage]) -> SlowdownPage:
    page = open_page(board.process.url)
    page.open("one_step")
    return page


@pytest.fixture
def page(tab: SlowdownPage, board: Board) -> Iterator[SlowdownPage]:
    """A page that must have nothing to complain of after each test."""
    tab.complaints.clear()
    yield tab
    assert tab.complaints == []
    assert tab.requested == {f"http://localhost:{board.process.port}"}


def test_a_run_of_one_step(page: SlowdownPage) -> None:
    frame = page.switch("one_step")
    assert "Not judged yet" in page.text()
    assert "healthy" not in page.headline().lower()
    assert "A verdict needs a level that holds for a while" in page.text()
    frame.locator("sd-timeline").focus()
    page.press("+", "-", "ArrowRight", "Shift+ArrowLeft", "End", "]", "[", "Z", "0")
    frame.locator("sd-timeline .cur span").get_by_text("0", exact=True).wait_for()
    assert page.violations() == []


def test_not_enough_steps_is_no_verdict(page: SlowdownPage) -> None:
    page.switch("few_steps")
    assert page.headline().startswith("Not enough steps")
    assert "No cause is named" in page.text()


def test_missing_chunks_are_said_above_everything(page: SlowdownPage) -> None:
    frame = page.switch("chunks_missing")
    banner = frame.locator("header.head .banner")
    assert "2 of 8 data records are missing" in banner.inner_text()
    assert "2 of 8 records missing" in frame.locator(".live").inner_text()
    assert "2 of 8 records are missing" in frame.locator("#signals").inner_text()
    assert page.violations() == []


def test_what_was_not_measured_is_said_with_its_reason(page: SlowdownPage) -> None:
    frame = page.switch("collectors")
    signals = frame.locator("#signals")
    assert "no device reports allocator numbers" in signals.inner_text()
    assert "<img src=x onerror=alert(1)> raised" in signals.inner_text()
    assert "Retraces were not measured" in frame.locator("#retraces").inner_text()
    assert frame.locator("img").count() == 0


@pytest.mark.parametrize("kind", list(NAMES))
@pytest.mark.parametrize("width", [1024, 1440])
def test_a_strange_name_is_text_and_breaks_nothing(
    page: SlowdownPage, kind: str, width: int
) -> None:
    page.page.set_viewport_size({"width": width, "height": 900})
    frame = page.switch(NAMES[kind])
    picker = frame.locator("button.picker")
    assert NAMES[kind] in str(picker.get_attribute("title"))
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert frame.locator("script:not([src])", has_text="1<").count() == 0
    assert frame.locator("b[onmouseover]").count() == 0
    frame.locator("#compare select").select_option("collectors")
    frame.locator("#compare table").wait_for()
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_picker_searches_five_hundred_runs(page: SlowdownPage) -> None:
    frame = page.switch("few_steps")
    frame.locator("button.picker").click()
    picker = frame.get_by_role("dialog", name="Choose a run")
    rows = picker.locator("tbody tr")
    rows.first.wait_for()
    assert rows.count() == 200
    assert f"of {MANY + len(NAMES) + 5}" in picker.locator("thead").inner_text()
    picker.get_by_text("more; type a part of the name").wait_for()
    picker.get_by_role("searchbox").fill("many run437")
    picker.get_by_text("(1 of").wait_for()
    assert page.violations() == []
    page.press("Enter")
    frame.locator("button.picker b", has_text="many/run437").wait_for()
    frame.wait_for_selector("h1")


def test_a_live_run_grows_without_moving_the_view(page: SlowdownPage, board: Board) -> None:
    frame = page.switch("live")
    timeline = frame.locator("sd-timeline")
    timeline.focus()
    page.press("+", "ArrowLeft")
    page.wait_kept("rows", (256, 767))
    selection = page.drag(0.2, 0.4)
    scrolled = frame.evaluate("scrollY")
    cursor = timeline.locator(".cur span").inner_text()
    with board.live.open("ab") as file:
        for chunk in board.later:
            file.write(event_files.frame(event_files.chunk_event(chunk)))
    board.process.wait_until(
        "the run has grown", lambda: board.process.runs()["live"]["steps"] == 2000
    )
    page.page.locator("button.reload-button").click()
    frame.locator(".live", has_text=re.compile("2,000 steps|step 1,999")).wait_for()
    timeline.and_(frame.locator("[aria-label*='2,000 steps']")).wait_for()
    assert page.kept("rows") == (256, 767)
    assert page.kept("selection") == selection
    assert frame.evaluate("scrollY") == scrolled
    assert timeline.locator(".cur span").inner_text() == cursor
    timeline.focus()
    page.press("0")
    page.wait_kept("rows", None)
    page.press("End")
    timeline.locator(".cur span").get_by_text("1,999").wait_for()
