"""Pages that are read from disk slow steps down; memory that merely grows does not."""

import numpy as np
import pytest

SIZE = 600
ROW = np.arange(SIZE)
SLOW = np.where(ROW >= 400, 0.010, 0.0)
SAMPLED = np.arange(0, SIZE, 10)
FAULTS = np.where(SAMPLED >= 400, 50.0 * (SAMPLED - 400), 0.0)


def test_slow_steps_with_major_faults_wait_for_memory(make_run, find, judge):
    run = make_run(0.01 + SLOW, signals={"major_faults": FAULTS}, signal_rows=SAMPLED)
    (cause,) = judge(run, find("core", "level_shift", SLOW)).report.causes
    assert (cause.cause, cause.confidence) == ("host_memory", "medium")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert cause.evidence[0].startswith("9,500 pages were read from disk (major faults), in ")
    assert cause.summary.startswith("The process waits for pages from disk")


def test_where_ram_was_full_it_is_said(make_run, find, judge):
    signals = {"major_faults": FAULTS, "rss_bytes": np.full(len(SAMPLED), 7.5e9)}
    limits = {"memory_limit_bytes": 8e9}
    run = make_run(0.01 + SLOW, signals=signals, signal_rows=SAMPLED, limits=limits)
    (cause,) = judge(run, find("core", "level_shift", SLOW)).report.causes
    assert cause.summary.startswith("Host memory is full")


def test_a_process_that_grows_without_faults_is_not_blamed(make_run, find, judge):
    signals = {"major_faults": np.zeros(len(SAMPLED)), "rss_bytes": 1e9 + 1e6 * SAMPLED}
    run = make_run(0.01 + SLOW, signals=signals, signal_rows=SAMPLED)
    report = judge(run, find("core", "level_shift", SLOW)).report
    assert "host_memory" not in [cause.cause for cause in report.causes]
