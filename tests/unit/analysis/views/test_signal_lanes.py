"""Lanes of signals: their samples, thinned to extremes, with one beyond each edge."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.signal_lanes import (
    extremes,
    most_values,
    samples_in_view,
    signal_lanes,
)
from tb_slowdown_plugin.records.types import SignalTable, no_signals

ROWS = np.arange(0, 100, 10)
TABLE = SignalTable(ROWS * 0.1, ROWS, {"rss_bytes": ROWS * 2.0, "unheard_of": ROWS + np.nan})


def test_a_view_has_one_sample_beyond_each_edge() -> None:
    assert samples_in_view(TABLE, 25, 44) == (2, 6)
    assert samples_in_view(TABLE, 0, 99) == (0, 10)


def test_a_lane_says_what_it_is_and_one_without_a_value_is_left_out() -> None:
    (lane,) = signal_lanes(TABLE, 25, 44, 800)
    assert (lane["row"], lane["value"]) == ([20, 30, 40, 50], [40.0, 60.0, 80.0, 100.0])
    assert (lane["unit"], lane["cumulative"]) == ("bytes", False)
    assert signal_lanes(no_signals(), 0, 10, 800) == []


@pytest.mark.parametrize(("most", "kept"), [(10, 10), (4, 4), (2, 2)])
def test_a_lane_has_at_most_so_many_values(most: int, kept: int) -> None:
    (lane,) = signal_lanes(TABLE, 0, 99, most)
    assert len(lane["row"]) == kept
    assert (lane["row"][0], lane["row"][-1]) == (0, 90)


def test_extremes_of_each_group_and_a_group_of_gaps() -> None:
    values = np.array([3.0, 1.0, 2.0, np.nan, np.nan, np.nan, 5.0])
    assert extremes(values, 3).tolist() == [0, 1, 3, 6]


def test_the_whole_run_has_values_however_few_its_buckets_are() -> None:
    assert (most_values(200, 0, 999, 1000), most_values(200, 1, 999, 1000)) == (800, 200)
