"""What the profiler takes: the clocks of its start and stop, and steps slower only between them."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Capture

SIZE = 600
ROW = np.arange(SIZE)
BETWEEN = np.where((ROW >= 200) & (ROW < 400), 0.002, 0.0)
STOP = np.where(ROW == 400, 0.25, 0.0)
EVENTS = [(200, Capture("a", running=True)), (400, Capture("a", running=False))]


def test_steps_between_start_and_stop_are_the_profilers(make_run, find, judge):
    run = make_run(0.01 + BETWEEN + STOP, accounts={"profiling": STOP}, events=EVENTS)
    (cause,) = judge(
        run, find("profiling", "one_off", STOP), find("core", "level_shift", BETWEEN)
    ).report.causes

    assert (cause.cause, cause.confidence) == ("profiling", "high")
    assert cause.lost_seconds == pytest.approx(0.65)
    assert cause.evidence[1:] == (
        "A capture ran in 201 of 600 steps, starting at step 200.",
        "Those steps take 12 ms, all others 10 ms (medians).",
    )


@pytest.mark.parametrize(
    ("accounts", "first"),
    [
        ({}, ["Capture a few"]),
        ({"summary:TensorBoard": BETWEEN}, ["Write less to", "Capture a few"]),
    ],
)
def test_the_callback_is_told_of_where_it_is_there(make_run, find, judge, accounts, first):
    run = make_run(0.01 + BETWEEN + STOP, accounts={"profiling": STOP, **accounts}, events=EVENTS)
    (cause,) = judge(run, find("profiling", "one_off", STOP)).report.causes
    assert [" ".join(each.text.split()[:3]) for each in cause.advice] == first
    assert cause.evidence[0].endswith("went into the profiler: 250 ms in step 400.")


def test_slower_steps_alone_are_told_with_less_confidence(make_run, find, judge):
    run = make_run(0.01 + BETWEEN, events=EVENTS)
    (cause,) = judge(run, find("core", "level_shift", BETWEEN)).report.causes
    assert (cause.cause, cause.confidence) == ("profiling", "medium")
    assert cause.summary == "1 profiler capture slowed down the run."


@pytest.mark.parametrize(
    ("slow", "events"),
    [
        (ROW >= 200, EVENTS),
        ((ROW >= 100) & (ROW < 300), EVENTS),
        ((ROW >= 200) & (ROW < 400), []),
        ((ROW >= 200) & (ROW < 400), [(0, Capture("a", running=True))]),
    ],
    ids=["slow afterwards too", "slow before", "no capture", "a capture of the whole run"],
)
def test_what_does_not_go_with_the_capture_is_not_its(make_run, find, judge, slow, events):
    lost = np.where(slow, 0.002, 0.0)
    report = judge(make_run(0.01 + lost, events=events), find("core", "level_shift", lost)).report
    assert "profiling" not in [each.cause for each in report.causes]
    assert report.unexplained_seconds == pytest.approx(lost.sum())
