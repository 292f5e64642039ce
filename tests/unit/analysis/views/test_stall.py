"""A stall is at the top of the report while it lasts."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.stalled_runs import PLACE, STEPS, stalled

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog import events
from tb_slowdown_plugin.records.types import Fact, SignalTable
from tb_slowdown_plugin.report.text_report import to_text


def sampled(run, seconds, **signals):
    """With samples up to so many seconds after the last step."""
    ended = float(run.steps.ended[-1])
    times = ended + np.array([1.0, seconds])
    rows = np.array([STEPS, STEPS])
    columns = {name: np.asarray(values, float) for name, values in signals.items()}
    return replace(run, signals=SignalTable(times, rows, columns))


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def test_an_open_stall_is_the_first_sentence_of_the_report(make_run):
    run = sampled(stalled(make_run), 250.0, rss_bytes=[1e9, 1e9])
    report = account_for(run).report
    since = float(run.steps.ended[-1])
    assert report.stall.since == since
    assert report.stall.seconds == pytest.approx(250.0)
    assert (report.stall.place, report.stall.account) == (PLACE, None)
    assert (dict(report.stall.threads), report.stall.other_threads) == (
        {"serve (data.py:12)": 2},
        40,
    )
    clock = time.strftime("%H:%M:%S", time.gmtime(since))
    assert report.stall.text == (
        f"No step since {clock} (4 min 10 s): the training thread is in `waits_for_lock` "
        "(data.py:88), 2 threads in `serve` (data.py:12), 38 other threads idle."
    )
    assert report.headline.startswith(report.stall.text)
    assert report.verdict == "healthy"
    assert f"No step since {clock} (4 min 10 s)" in to_text([report])


def test_what_the_process_does_in_that_time_is_in_the_text(make_run):
    run = stalled(make_run)
    busy = Fact(
        events.STALL, PLACE, {"since": float(run.steps.ended[-1]), "seconds": 60.0,
                              "cpu_seconds": 90.0, "threads": 8.0}
    )  # fmt: skip
    run = replace(run, events=(replace(run.events[0], what=busy),))
    run = sampled(run, 60.0, disk_read_bytes=[0.0, 2.0**33], memory_pressure_seconds=[3.0, 33.0])
    text = account_for(run).report.stall.text
    assert "(data.py:88), 8 other threads." in text
    assert text.endswith(
        "In that time the process used 1.5 cores, read 8 GiB from disks and met 30.0 s of memory "
        "pressure."
    )


def test_known_work_is_called_by_its_name(make_run):
    report = account_for(stalled(make_run, account="checkpoint")).report
    assert report.stall.account == "checkpoint"
    assert "in `waits_for_lock` (data.py:88) (checkpoint saves)" in report.stall.text


@pytest.mark.parametrize("row", [STEPS, 200])
def test_a_run_that_ended_or_went_on_is_not_stalled(make_run, row):
    report = account_for(stalled(make_run, row=row, over=row == STEPS)).report
    assert report.stall is None
    assert "No step since" not in report.headline
