"""Steps that compute on larger tensors lose nothing, as long as nobody keeps these."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 200
STEP = 0.06
JUMP = 120
ROWS = np.arange(2, SIZE, 4)
LATER = ROWS >= JUMP
LOST = STEP * (np.arange(SIZE) >= JUMP)
MIB = 2.0**20


@pytest.fixture
def report_of(make_run, find, judge):
    """The report of a run whose steps take twice as long from a step on, by what tensors take."""

    def report(peak, in_use, pattern="level_shift"):
        period = STEP + LOST
        signals = {"allocator_peak_bytes:CPU:0": peak, "allocator_in_use_bytes:CPU:0": in_use}
        run = make_run(period, signals=signals, signal_rows=ROWS, process_cpu=period)
        found = find("core", pattern, LOST, confidence="medium", growth_fraction=1.0)
        return judge(run, found).report

    return report


AMID = np.where(ROWS % 8 == 2, 15.0, 30.0) * MIB
"""In use: what is kept, and now and then a part of what a step needs."""
LARGER = np.where(LATER, 90.0, 40.0) * MIB


def test_larger_tensors_that_are_freed_are_more_work(report_of):
    report = report_of(LARGER, AMID)
    assert (report.verdict, report.causes, report.unexplained_seconds) == ("healthy", (), 0.0)
    assert any(
        "From step 120 on, tensors on CPU:0 take 90 MiB at once instead of 40 MiB" in note
        for note in report.notes
    )


@pytest.mark.parametrize(
    ("peak", "in_use", "pattern"),
    [
        pytest.param(LARGER, AMID + 45 * MIB * LATER, "level_shift", id="they are kept"),
        pytest.param(np.where(LATER, 60, 40) * MIB, AMID, "level_shift", id="not by as much"),
        pytest.param(np.where(ROWS >= 180, 90, 40) * MIB, AMID, "level_shift", id="much later"),
        pytest.param(LARGER, AMID, "drift", id="steps grow"),
        pytest.param(LARGER, np.full(len(ROWS), np.nan), "level_shift", id="nobody knows"),
    ],
)
def test_all_else_is_lost(report_of, peak, in_use, pattern):
    report = report_of(peak, in_use, pattern)
    assert report.verdict == "slowdown"
    assert report.lost_seconds == pytest.approx(LOST.sum())
