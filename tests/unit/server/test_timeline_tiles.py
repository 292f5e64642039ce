"""Ranges that have buckets in common are reduced once, and say what each would say alone."""

from __future__ import annotations

import json
from dataclasses import replace

import event_files
import numpy as np
import pytest
from unit.server.conftest import make_account

from tb_slowdown_plugin.analysis.views.signal_lanes import signal_lanes
from tb_slowdown_plugin.analysis.views.timeline_columns import Unranged, reduce_rows
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, Epoch, Event, SignalTable, no_signals
from tb_slowdown_plugin.report.json_body import compact_json
from tb_slowdown_plugin.server import timeline_tiles
from tb_slowdown_plugin.server.analyses.analysis import Analysis
from tb_slowdown_plugin.server.timeline_tiles import TimelineTiles

ROWS = 100_003
"""No multiple of anything: the last bucket is shorter."""


def analysed(seed: int = 1) -> Analysis:
    steps = event_files.make_steps(ROWS, seed=seed, accounts={"gc": 0.0, "callback:Logger": 0.001})
    steps.accounts["checkpoint"] = np.linspace(0.0, 0.01, ROWS)  # type: ignore[index]
    steps.accounts["input_wait"] = np.full(ROWS, np.nan)  # type: ignore[index]
    events = (Event(0, 1.0, Epoch(0)), Event(50_000, 2.0, Epoch(1)), Event(ROWS, 3.0, Epoch(2)))
    run = Run("run1", steps, no_signals(), events, Environment(), ())
    return Analysis(run, make_account(run), {})


@pytest.fixture(name="analysis", scope="module")
def _analysis() -> Analysis:
    return analysed()


def test_what_does_not_depend_on_the_range(analysis: Analysis) -> None:
    found = TimelineTiles().unranged(analysis)
    assert found.accounts == ("checkpoint", "callback:Logger")
    assert [epoch["row"] for epoch in found.epochs] == [0, 50_000]


@pytest.mark.parametrize(
    ("first", "last", "buckets"),
    [(0, ROWS - 1, 800), (12_345, 77_777, 800), (3, 60_000, 10), (ROWS - 60_000, ROWS - 1, 517)],
)
def test_tiles_say_what_the_range_alone_says(
    analysis: Analysis, first: int, last: int, buckets: int
) -> None:
    tiles = TimelineTiles()
    tiles.columns(analysis, 20_000, 70_000, 613)  # others have looked before
    tiles.columns(analysis, max(first - 5_000, 0), max(last - 5_000, 0), buckets)
    found = tiles.columns(analysis, first, last, buckets)
    accounts = Unranged.of(analysis.run).accounts
    alone = reduce_rows(
        analysis.run, analysis.account, found.first, found.last, found.width, accounts
    )
    assert json.loads(compact_json(found.body())) == alone.body()
    assert found.first <= first
    assert last <= found.last < ROWS
    assert sum(map(int, found.lists["count", ""])) == found.last + 1 - found.first
    # Not coarser than asked for, and an eighth finer at most, with a bucket more at each end.
    assert found.width * buckets >= (last + 1 - first) * 8 // 9
    assert found.width <= -(-(last + 1 - first) // buckets)


def test_rows_are_reduced_once(analysis: Analysis, monkeypatch: pytest.MonkeyPatch) -> None:
    reduced: list[int] = []

    def count(*given):
        reduced.append(given[3] + 1 - given[2])
        return reduce_rows(*given)

    monkeypatch.setattr(timeline_tiles, "reduce_rows", count)
    tiles = TimelineTiles()
    tiles.columns(analysis, 0, 63_999, 800)  # width 80: tiles of 5,120 rows
    assert reduced == [13 * 5_120]
    tiles.columns(analysis, 10_000, 73_999, 800)
    assert reduced == [13 * 5_120, 2 * 5_120]
    tiles.columns(analysis, 1_234, 65_233, 800)
    assert len(reduced) == 2


def test_another_analysis_has_tiles_of_its_own(analysis: Analysis) -> None:
    tiles = TimelineTiles()
    first, other = (
        tiles.columns(each, 0, ROWS - 1, 100).lists["step_seconds", "mean"]
        for each in (analysis, analysed(seed=2))
    )
    assert first != other


def test_the_oldest_tiles_are_dropped(analysis: Analysis) -> None:
    tiles = TimelineTiles(most=3)
    for first in range(0, 40_000, 10_000):
        tiles.columns(analysis, first, first + 59_999, 800)
    assert len(tiles._tiles) == 14  # those of the last view alone
    assert tiles.columns(analysis, 0, 59_999, 800).first == 0


def sampled(analysis: Analysis, count: int) -> Analysis:
    """The run with so many samples, of which the second signal is known in the last half."""
    rows = np.linspace(0, ROWS, count).astype(np.int64)
    values = np.random.default_rng(1).integers(0, 1000, count) / 8
    half = np.where(np.arange(count) < count // 2, np.nan, values)
    table = SignalTable(rows / 10.0, rows, {"rss_bytes": values, "major_faults": half})
    return replace(analysis, run=replace(analysis.run, signals=table))


def test_few_samples_are_all_there(analysis: Analysis) -> None:
    of = sampled(analysis, 500)
    tiles = TimelineTiles()
    for first, last in ((0, ROWS - 1), (30_000, 90_000), (5_000, 55_000)):
        body = {"signals": tiles.signals(of, first, last, 800)}
        alone = signal_lanes(of.run.signals, first, last, 800)
        assert json.loads(compact_json(body)) == {"signals": alone}
        assert len(alone) == 2
    assert tiles.signals(of, 0, 45_000, 800).count('"signal"') == 1  # nothing known of the other


def test_of_many_samples_the_extremes_of_the_view_are_there(analysis: Analysis) -> None:
    of = sampled(analysis, 9_001)
    table, tiles = of.run.signals, TimelineTiles()
    for first, last in ((20_000, 75_000), (24_321, 79_321)):
        (lane, half) = json.loads(tiles.signals(of, first, last, 800))
        inside = (table.row >= first) & (table.row <= last)
        known = dict(zip(table.row.tolist(), table.values["rss_bytes"].tolist(), strict=True))
        assert lane["row"] == sorted(set(lane["row"]))
        assert [known[row] for row in lane["row"]] == lane["value"]
        group = 12 * ROWS / 9_001  # a lane ends within one of the edge
        assert abs(lane["row"][0] - first) <= group
        assert abs(lane["row"][-1] - last) <= group
        assert 600 <= len(lane["row"]) <= 920
        here = [v for r, v in zip(lane["row"], lane["value"], strict=True) if first <= r <= last]
        whole = table.values["rss_bytes"][inside]
        assert (min(here), max(here)) == (whole.min(), whole.max())
        assert half["value"][0] is None
        assert half["value"][-1] is not None


def test_a_run_without_samples_has_no_lane(analysis: Analysis) -> None:
    assert TimelineTiles().signals(analysis, 0, ROWS - 1, 800) == "[]"
