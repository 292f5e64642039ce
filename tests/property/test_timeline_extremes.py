"""A thinned signal keeps what a person looks for: its extremes, its order and its gaps."""

from __future__ import annotations

import event_files
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, SignalTable, no_signals

STEPS = event_files.make_steps(400)


def run_with(signals: SignalTable) -> Run:
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    return Run("run1", STEPS, signals, (), Environment(), (session,))


ACCOUNT = account_for(run_with(no_signals()))


@settings(max_examples=200, deadline=None)
@given(
    values=st.lists(
        st.one_of(st.integers(-1000, 1000).map(float), st.just(float("nan"))),
        min_size=1,
        max_size=len(STEPS),
    ),
    buckets=st.integers(2, 50),
)
def test_thinning_keeps_extremes_order_and_gaps(values: list[float], buckets: int) -> None:
    array = np.array(values)
    rows = np.arange(len(values))
    run = run_with(SignalTable(STEPS.ended[rows], rows, {"rss_bytes": array}))
    lanes = timeline(run, ACCOUNT, 0, len(STEPS) - 2, buckets)["signals"]
    if np.isnan(array).all():
        assert lanes == []
        return
    (lane,) = lanes
    assert lane["row"] == sorted(set(lane["row"]))
    assert len(lane["row"]) <= buckets
    kept = np.array([np.nan if value is None else value for value in lane["value"]])
    assert np.array_equal(kept, array[lane["row"]], equal_nan=True)
    assert np.nanmin(kept) == np.nanmin(array)
    assert np.nanmax(kept) == np.nanmax(array)


def test_a_stretch_without_values_stays_a_gap() -> None:
    array = np.ones(400)
    array[100:300] = np.nan
    rows = np.arange(400)
    run = run_with(SignalTable(STEPS.ended[rows], rows, {"rss_bytes": array}))
    (lane,) = timeline(run, ACCOUNT, 0, 398, 20)["signals"]
    missing = [row for row, value in zip(lane["row"], lane["value"], strict=True) if value is None]
    assert missing
    assert all(100 <= row < 300 for row in missing)
