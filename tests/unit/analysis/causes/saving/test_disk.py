"""Slow steps while the machine waits for its disks, and steps that write more and more."""

import numpy as np
import pytest

SIZE = 600
ROW = np.arange(SIZE)
SLOW = np.where(ROW >= 400, 0.010, 0.0)
SAMPLED = np.arange(0, SIZE, 10)


def test_slow_steps_under_pressure_of_disks_wait_for_them(make_run, find, judge):
    waited = np.where(SAMPLED > 400, 0.008 * (SAMPLED - 400.0), 0.0)
    run = make_run(0.01 + SLOW, signals={"io_pressure_seconds": waited}, signal_rows=SAMPLED)
    (cause,) = judge(run, find("core", "level_shift", SLOW)).report.causes
    assert (cause.cause, cause.confidence) == ("disk", "medium")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert cause.summary == "Steps are slower while processes on this machine wait for disk."
    assert cause.evidence[0].startswith("Processes on this machine waited 1.52 s for disk")


def test_a_step_that_writes_more_and_more_grows_with_it(make_run, find, judge):
    grown = np.linspace(0.0, 0.010, SIZE)
    written = np.cumsum(1e6 * np.linspace(1.0, 3.0, SIZE))[SAMPLED]
    run = make_run(0.01 + grown, signals={"disk_written_bytes": written}, signal_rows=SAMPLED)
    (cause,) = judge(run, find("core", "drift", grown)).report.causes
    assert (cause.cause, cause.pattern) == ("disk", "drift")
    assert cause.summary.startswith("Writes grow from ")


def test_a_step_that_writes_as_much_as_ever_is_not_slowed_by_it(make_run, find, judge):
    grown = np.linspace(0.0, 0.010, SIZE)
    signals = {"disk_written_bytes": 1e6 * SAMPLED, "io_pressure_seconds": 0.0 * SAMPLED}
    run = make_run(0.01 + grown, signals=signals, signal_rows=SAMPLED)
    report = judge(run, find("core", "drift", grown)).report
    assert "disk" not in [cause.cause for cause in report.causes]
