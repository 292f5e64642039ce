"""Pauses of the garbage collector: how often, how long, whether somebody asks for them."""

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import Fact, GcPause

SIZE = 600
ROW = np.arange(SIZE)


def pauses(rows, seconds, generation=2):
    lost = np.zeros(SIZE)
    lost[rows] = seconds
    each = np.broadcast_to(seconds, len(rows))
    events = [
        (int(row), GcPause(generation, float(long), 0))
        for row, long in zip(rows, each, strict=True)
    ]
    return lost, events


def cause_of(make_run, find, judge, lost, events):
    run = make_run(0.01 + lost, accounts={"gc": lost}, events=events)
    (cause,) = judge(run, find("gc", "periodic", lost)).report.causes
    return cause


def test_full_collections_at_a_fixed_distance_look_forced(make_run, find, judge):
    cause = cause_of(make_run, find, judge, *pauses(np.arange(39, SIZE, 40), 0.05))
    assert (cause.cause, cause.confidence) == ("garbage_collection", "high")
    assert cause.lost_seconds == pytest.approx(0.75)
    assert "runs a full garbage collection" in cause.summary
    assert cause.summary.endswith("pauses training for 50 ms (median).")
    assert any("points to a `gc.collect()` call in the loop" in each for each in cause.evidence)


def test_pauses_that_grow_tell_of_more_objects(make_run, find, judge):
    rows = np.array([20, 70, 150, 190, 280, 330, 400, 480, 520, 590])
    cause = cause_of(make_run, find, judge, *pauses(rows, np.linspace(0.05, 0.2, len(rows))))
    assert "Late pauses are" in cause.summary
    assert any("so their number grows" in each for each in cause.evidence)


def test_young_collections_are_told_apart(make_run, find, judge):
    lost, events = pauses(np.arange(5, SIZE, 6), 0.004, generation=1)
    cause = cause_of(make_run, find, judge, lost, events)
    assert cause.summary.startswith("Minor garbage collections took")
    assert "none of it in full collections (generation 2)" in cause.evidence[0]


def test_the_line_that_asks_for_them_is_in_the_advice(make_run, find, judge):
    lost, events = pauses(np.arange(39, SIZE, 40), 0.05)
    asked = (39, Fact("gc_forced", "train.py:9", {"calls": 15.0}))
    cause = cause_of(make_run, find, judge, lost, sorted([*events, asked], key=lambda e: e[0]))
    assert "train.py:9" in " ".join(each.text + each.where for each in cause.advice)


def test_a_collection_after_the_last_step_is_no_time_of_the_run(make_run, find, judge):
    lost, events = pauses(np.arange(39, SIZE, 40), 0.05)
    after = (SIZE, GcPause(2, 9.0, 0))
    cause = cause_of(make_run, find, judge, lost, [*events, after])
    assert "runs a full garbage collection" in cause.summary
    assert "took 0.75 s: 50 ms each, longest at" in cause.evidence[0]
