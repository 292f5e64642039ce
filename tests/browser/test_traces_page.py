"""The Traces panel in a browser: a step of a capture, two compared, with XProf or without."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import event_files
import numpy as np
import pytest
from integration.tensorboard_process import TensorBoardProcess

from tb_slowdown_plugin.records.types import Chunk, Environment, no_signals
from tb_slowdown_plugin.traces.read import read_trace
from tb_slowdown_plugin.traces.steps import nothing_recorded

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DATA = Path(__file__).parent.parent / "unit/traces/data"
SESSIONS = {"heavy": "2026_11_21_06_37_40", "retrace": "2026_11_21_06_37_41"}
HAS_XPROF = importlib.util.find_spec("xprof") is not None


def write_run(logdir: Path) -> None:
    """A run whose steps are those of two captures in its directory, the slow one's first."""
    ended, period = [], []
    for name, session in SESSIONS.items():
        path = logdir / "run1/plugins/profile" / session / "vm.xplane.pb"
        path.parent.mkdir(parents=True)
        path.write_bytes(gzip.decompress((DATA / f"{name}.xplane.pb.gz").read_bytes()))
        trace = read_trace(path, nothing_recorded())
        ended.append(trace.started + trace.steps.ends)
        period.append(trace.steps.ends - trace.steps.begins)
    steps = replace(
        event_files.make_steps(20), ended=np.concatenate(ended),
        period_seconds=np.concatenate(period), number=np.tile(np.arange(10), 2),
    )  # fmt: skip
    started = float(ended[0][0] - period[0][0])
    chunk = Chunk("0123abcd", 0, started, 0, steps, no_signals(), (), Environment())
    event_files.write_chunks(logdir / "run1/slowdown", [chunk])


@pytest.fixture(scope="module", params=["", "/deep/tb"], ids=["root", "prefix"])
def board(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardProcess]:
    folder = tmp_path_factory.mktemp("traces")
    write_run(folder / "logs")
    flags = ["--logdir", str(folder / "logs")]
    with TensorBoardProcess(flags, folder, request.param) as board:
        board.wait_until("the run is read", lambda: "run1" in board.runs())
        yield board


def test_a_slow_step_is_opened_and_two_captures_compared(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage], pictures: Path
) -> None:
    page = open_page(board.url)
    frame = page.open("run1")
    panel = frame.locator("section#traces")
    rows = panel.locator("table.captures tbody tr")
    rows.first.wait_for()
    assert rows.count() == 2
    assert "0\u20139" in rows.nth(0).inner_text()
    assert "waiting for data" in rows.nth(0).inner_text()
    assert "step: traced in 1 of 10 calls." in rows.nth(1).inner_text()
    # The slower capture is compared with the faster one without being asked.
    headline = panel.locator("p.headline")
    headline.wait_for()
    assert "Iterator::MapAndBatch" in headline.inner_text()
    first = panel.locator("table.against tbody tr").first
    assert "Iterator::MapAndBatch" in first.inner_text()

    rows.nth(0).get_by_role("button", name=SESSIONS["heavy"]).click()
    panel.get_by_role("heading", name="Mean of 10 steps").wait_for()
    panel.get_by_role("button", name="Next step").click()
    panel.get_by_role("heading", name="Step 0").wait_for()
    panel.get_by_role("button", name="Next step").click()
    panel.get_by_role("heading", name="Step 1").wait_for()
    assert "Waiting for data 14.4 ms" in panel.inner_text()

    panel.get_by_role("button", name="Open here").click()
    if HAS_XPROF:
        viewer = panel.locator("iframe.viewer")
        viewer.wait_for()
        source = str(viewer.get_attribute("src"))
        assert "view_start=" in source
        viewer.content_frame.locator("tr-ui-timeline-view").wait_for(state="attached")
    else:
        panel.get_by_text("pip install xprof").wait_for()
    page.screenshot(pictures / "traces.png")
    # XProf's viewer is old, and the browser says so.
    assert [said for said in page.complaints if "/plugin/profile/" not in said] == []
    assert {origin.partition("//")[2].partition(":")[0] for origin in page.requested} == {
        "localhost"
    }
