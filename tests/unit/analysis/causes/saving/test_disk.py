"""Slow steps while the machine waits for its disks, and steps that write more and more."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact

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


@pytest.mark.parametrize("waits", [0.0, 0.004])
def test_the_line_that_was_seen_to_write_is_told(make_run, find, judge, waits):
    """Under pressure of the disk, and without it; the line that makes what is written grows too."""
    grown = np.linspace(0.0, 0.010, SIZE)
    signals = {
        "disk_written_bytes": np.cumsum(1e6 * np.linspace(1.0, 3.0, SIZE))[SAMPLED],
        "io_pressure_seconds": waits * SAMPLED,
    }
    samples = {"Log.store (a.py:76)": (6.0, 5.0), "Log.store (a.py:74)": (9.0, 0.0)}
    events = [
        (row, Fact("python_stack", place, {"samples": there, "waits_writing": writing, "of": 20.0}))
        for row in (100, 599)
        for place, (there, writing) in samples.items()
    ]
    run = make_run(0.01 + grown, signals=signals, signal_rows=SAMPLED, events=events)
    (cause,) = judge(run, find("core", "drift", grown)).report.causes
    assert (cause.cause, cause.place.file, cause.place.line) == ("disk", "a.py", 76)
    assert cause.summary.endswith(" The training thread writes in Log.store (a.py:76).")
    assert "In 12 of 40 samples of its stack it was there; in 10 of them" in cause.evidence[-1]


def test_a_step_that_writes_as_much_as_ever_is_not_slowed_by_it(make_run, find, judge):
    grown = np.linspace(0.0, 0.010, SIZE)
    signals = {"disk_written_bytes": 1e6 * SAMPLED, "io_pressure_seconds": 0.0 * SAMPLED}
    run = make_run(0.01 + grown, signals=signals, signal_rows=SAMPLED)
    report = judge(run, find("core", "drift", grown)).report
    assert "disk" not in [cause.cause for cause in report.causes]
