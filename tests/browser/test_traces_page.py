"""The Traces panel in a browser: a step of a capture, two compared, with XProf or without."""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import event_files
import numpy as np
import pytest
from conftest import xprof_commands
from integration.tensorboard_process import TensorBoardProcess

from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.records.types import Chunk, Environment, no_signals

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage
    from playwright.sync_api import Frame, Locator

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DATA = Path(__file__).parent.parent / "unit/profiler/data"
SESSIONS = {"heavy": "2026_11_21_06_37_40", "retrace": "2026_11_21_06_37_41"}


def write_run(logdir: Path) -> None:
    """A run whose steps are those of two captures in its directory, the slow one's first.

    The slow one has a second host, which saw what the other capture saw.
    """
    ended, period = [], []
    for name, session in SESSIONS.items():
        path = logdir / "run1/plugins/profile" / session / "vm.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((DATA / f"{name}.xplane.pb.gz").read_bytes()))
        trace = read_trace(path, nothing_recorded())
        ended.append(trace.started + trace.steps.ends)
        period.append(trace.steps.ends - trace.steps.begins)
    second = gzip.decompress((DATA / "retrace.xplane.pb.gz").read_bytes())
    place = logdir / "run1/plugins/profile" / SESSIONS["heavy"]
    (place / "worker-1.xplane.pb").write_bytes(second)
    steps = replace(
        event_files.make_steps(20), ended=np.concatenate(ended),
        period_seconds=np.concatenate(period), number=np.tile(np.arange(10), 2),
    )  # fmt: skip
    started = float(ended[0][0] - period[0][0])
    chunk = Chunk("0123abcd", 0, started, 0, steps, no_signals(), (), Environment())
    event_files.write_chunks(logdir / "run1/slowdown", [chunk])


class Place(NamedTuple):
    """Where TensorBoard is, and whether XProf is beside it."""

    prefix: str
    has_xprof: bool


ROOT, PREFIXED = Place("", False), Place("/deep/tb", True)
FURTHER = [Place("", True), Place("/deep/tb", False)]


@pytest.fixture(
    scope="module",
    params=[ROOT, PREFIXED, *(pytest.param(each, marks=pytest.mark.further) for each in FURTHER)],
    ids=lambda place: (
        f"{'prefix' if place.prefix else 'root'}-{'' if place.has_xprof else 'no_'}xprof"
    ),
)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    return found


@pytest.fixture(scope="module")
def board(place: Place, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    commands = xprof_commands() if place.has_xprof else Path(sys.executable).parent
    folder = tmp_path_factory.mktemp("traces")
    write_run(folder / "logs")
    flags = ["--logdir", str(folder / "logs")]
    with TensorBoardProcess(flags, folder, place.prefix, commands) as board:
        board.wait_until("the run is read", lambda: "run1" in board.runs())
        yield board


def x_of(frame: Frame, row: int) -> float:
    """Where in the timeline's plot the middle of a row of the 20 lies, in pixels."""
    box = frame.locator("sd-timeline .plot").bounding_box()
    assert box is not None
    return (row + 0.5) / 20 * box["width"]


def test_a_slow_step_stands_in_the_trace_viewer_after_one_click(
    board: TensorBoardProcess,
    place: Place,
    open_page: Callable[..., SlowdownPage],
    pictures: Path,
) -> None:
    page = open_page(board.url)
    frame = page.open("run1")
    plot = frame.locator("sd-timeline .plot")
    # Row 15 is the step that is traced again; its capture begins with row 10.
    plot.click(position={"x": x_of(frame, 15), "y": 100})
    trace = frame.locator("sd-trace")
    trace.get_by_role("heading", name="Step 5").wait_for()
    assert f"of {SESSIONS['retrace']}, host vm" in trace.inner_text()
    assert "Tracing 70.3 ms" in trace.inner_text()
    beside(frame)
    if place.has_xprof:
        assert_viewer_stands_at(trace, "train 5")
    else:
        trace.get_by_text("pip install xprof").wait_for()
        assert trace.locator("iframe").count() == 0
    page.screenshot(pictures / f"traces_{'xprof' if place.has_xprof else 'plain'}.png")

    from playwright.sync_api import expect

    # The address keeps it, and a reload shows it again.
    expect(page.page).to_have_url(re.compile(r"p\.slowdown\.at=15-15"))
    page.page.reload()
    trace = page.frame().locator("sd-trace")
    trace.get_by_role("heading", name="Step 5").wait_for()
    if place.has_xprof:
        assert_viewer_stands_at(trace, "train 5")
    trace.get_by_role("button", name="Step before").click()
    trace.get_by_role("heading", name="Step 4").wait_for()
    expect(page.page).to_have_url(re.compile(r"p\.slowdown\.at=14-14"))
    trace.get_by_role("button", name="Close the trace").click()
    trace.wait_for(state="detached")
    expect(page.page).not_to_have_url(re.compile("trace"))
    complains_of_nothing(page)


def beside(frame: Frame) -> None:
    """The trace stands to the right of the timeline, at its height."""
    left, right = (frame.locator(name).bounding_box() for name in ("sd-timeline", "sd-trace"))
    assert left is not None
    assert right is not None
    assert left["x"] + left["width"] <= right["x"]
    assert abs(left["y"] - right["y"]) < 50


WHAT_THE_VIEWER_SHOWS = """
async (element, title) => {
  // The page's polyfill hides its own objects behind wrappers, which only `document` hands out.
  for (;;) {
    const view = document.querySelector("tr-ui-timeline-view");
    const viewport = view && view.trackView_ && view.trackView_.viewport;
    for (const event of (viewport && view.model && view.model.getDescendantEvents()) || []) {
      if (event.title !== title) continue;
      const shown = viewport.currentDisplayTransform;
      const width = viewport.modelTrackContainer.canvas.clientWidth;
      const ends = [shown.xViewToWorld(0), shown.xViewToWorld(width)];
      if (ends[1] - ends[0] < 2 * event.duration) return [...ends, event.start, event.end];
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
"""


def assert_viewer_stands_at(trace: Locator, title: str) -> None:
    """XProf's own viewer, asked what it shows: one step, and hardly anything beside it."""
    view = trace.locator("iframe.viewer").content_frame.locator("tr-ui-timeline-view")
    left, right, begin, end = view.evaluate(WHAT_THE_VIEWER_SHOWS, title)
    assert left < begin < end < right
    assert (end - begin) / (right - left) > 0.85


def complains_of_nothing(page: SlowdownPage) -> None:
    # XProf's viewer is old, and the browser says so.
    assert [said for said in page.complaints if "/plugin/profile/" not in said] == []
    assert {origin.partition("//")[2].partition(":")[0] for origin in page.requested} == {
        "localhost"
    }


@pytest.mark.parametrize("place", [ROOT], indirect=True)
def test_causes_captures_and_differences_lead_to_a_trace(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage]
) -> None:
    from playwright.sync_api import expect

    page = open_page(board.url)
    frame = page.open("run1")
    panel = frame.locator("section#traces")
    rows = panel.locator("table.captures tbody tr")
    rows.first.wait_for()
    assert rows.count() == 2
    assert "0\u20139" in rows.nth(0).inner_text()
    assert "input wait" in rows.nth(0).inner_text()
    assert "step: traced in 1 of 10 calls." in rows.nth(1).inner_text()
    # The slower capture is compared with the faster one without being asked.
    headline = panel.locator("p.headline")
    headline.wait_for()
    assert "Iterator::MapAndBatch" in headline.inner_text()
    first = panel.locator("table.against tbody tr").first
    assert "Iterator::MapAndBatch" in first.inner_text()

    # A cause leads to the capture of its steps.
    frame.get_by_role("button", name="Trace of these steps").click()
    trace = frame.locator("sd-trace")
    trace.get_by_role("heading", name="Mean of steps 0\u20132").wait_for()
    leads = first.locator("button.link")
    assert leads.count() == 2
    for lead, name in ((leads.nth(0), "retrace"), (leads.nth(1), "heavy")):
        lead.click()
        trace.get_by_text(f"of {SESSIONS[name]}").wait_for()
        trace.get_by_role("heading", name=re.compile(r"^Step \d of")).wait_for()
    rows.nth(0).get_by_role("button", name=SESSIONS["heavy"]).click()
    trace.get_by_role("heading", name="Mean of 10 steps, 0\u20139").wait_for()
    trace.get_by_role("button", name="Next step").click()
    trace.get_by_role("heading", name="Step 0").wait_for()
    trace.get_by_role("button", name="Next step").click()
    trace.get_by_role("heading", name="Step 1").wait_for()
    assert "Input wait 14.4 ms" in trace.inner_text()
    # Another host of the same capture.
    trace.get_by_label("Host").select_option("worker-1")
    trace.get_by_text("step: traced in 1 of 10 calls.").wait_for()
    expect(page.page).to_have_url(re.compile(r"p\.slowdown\.host=worker-1"))
    # By keyboard: the nearest capture of the step under the cursor.
    frame.locator("sd-timeline").focus()
    page.press("End", "Enter")
    trace.get_by_role("heading", name="Step 9").wait_for()
    trace.get_by_text(f"of {SESSIONS['retrace']}").wait_for()
    assert page.violations() == []
    complains_of_nothing(page)
