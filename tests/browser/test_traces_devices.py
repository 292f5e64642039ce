"""A recorded capture of eight devices on the page, without XProf, in both themes."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import event_files
import numpy as np
import pytest
from integration.tensorboard_process import TensorBoardProcess
from unit.profiler.real_captures import V100, unpack

from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.records.types import Chunk, Environment, no_signals

if TYPE_CHECKING:
    from browser.slowdown_page import SlowdownPage

pytestmark = [pytest.mark.browser, pytest.mark.slow]


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TensorBoardProcess]:
    """A run of forty steps around the two that the capture has."""
    folder = tmp_path_factory.mktemp("devices")
    path = folder / "logs/run1/plugins/profile/2026_11_21_06_37_40/vm.xplane.pb"
    path.parent.mkdir(parents=True)
    path.write_bytes(unpack(V100))
    trace = read_trace(path, nothing_recorded())
    middle = trace.started + trace.steps.ends
    ended = np.concatenate(
        [middle[0] - 0.02 * np.arange(20, 0, -1), middle, middle[1] + 0.02 * np.arange(1, 19)]
    )
    period = np.diff(ended, prepend=ended[0] - 0.02)
    steps = replace(
        event_files.make_steps(40), ended=ended, period_seconds=period, number=np.arange(40)
    )
    started = float(ended[0] - period[0])
    chunk = Chunk("0123abcd", 0, started, 0, steps, no_signals(), (), Environment())
    event_files.write_chunks(folder / "logs/run1/slowdown", [chunk])
    flags = ["--logdir", str(folder / "logs")]
    with TensorBoardProcess(flags, folder, "", Path(sys.executable).parent) as board:
        board.wait_until("the run is read", lambda: "run1" in board.runs())
        yield board


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_steps_devices_and_copies_are_drawn(
    board: TensorBoardProcess, open_page: Callable[..., SlowdownPage], pictures: Path, theme: str
) -> None:
    page = open_page(board.url, scheme=theme)
    frame = page.open("run1")
    listed = frame.locator("table.captures tbody tr").first
    first, last = map(int, listed.locator("td").nth(1).inner_text().split("\u2013"))
    assert first <= 20  # when it was on, by its events: the file does not say
    assert last >= 21
    listed.get_by_role("button").first.click()
    trace = frame.locator("sd-trace")
    trace.get_by_role("heading", name="Mean of 2 steps").wait_for()
    columns = trace.locator(".cap-steps button")
    assert columns.count() == 2
    heights = [columns.nth(n).bounding_box() for n in (0, 1)]
    assert heights[0]["height"] / heights[1]["height"] == pytest.approx(19.9 / 21.3, abs=0.03)
    computing = columns.nth(0).locator("i").first.bounding_box()
    assert computing["height"] / heights[0]["height"] == pytest.approx(0.746, abs=0.02)
    assert computing["width"] == pytest.approx(heights[0]["width"], abs=1)
    rows = trace.locator("table.cap-devices tbody tr")
    assert [row.split()[0] for row in rows.all_inner_texts()] == ["GPU:4", "GPU:6"]
    assert "74.6%" in rows.nth(0).inner_text()
    bar = rows.nth(0).locator(".cap-bar").bounding_box()
    computes = rows.nth(0).locator(".cap-bar i").first.bounding_box()
    assert computes["width"] / bar["width"] == pytest.approx(0.746, abs=0.01)
    text = trace.inner_text()
    assert "6 other devices did nothing" in text
    assert "202 to devices in 0.39 ms (79.2 KiB); 24 to the host in" in text
    assert "2 devices are idle 28% of each step: they wait for the host." in text
    page.screenshot(pictures / f"devices_{theme}.png")
    trace.screenshot(path=pictures / f"devices_{theme}_trace.png")
    columns.nth(1).click()
    trace.get_by_role("heading", name="Step").first.wait_for()
    assert page.violations() == []
