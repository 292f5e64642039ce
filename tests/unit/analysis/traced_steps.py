"""Runs in whose last steps a function was traced, for the tests of what is said of it."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.records.types import Trace

SIZE = 100


def traced(make_run, find, judge, *traces, seconds=0.050):
    """The cause of a run in which these traces happened, one in each of the last rows."""
    rows = range(SIZE - len(traces), SIZE)
    lost = np.zeros(SIZE)
    lost[list(rows)] = seconds
    run = make_run(
        np.full(SIZE, 0.010) + lost,
        accounts={"tracing:again": lost},
        events=list(zip(rows, traces, strict=True)),
    )
    (cause,) = judge(run, find("tracing:again", "flat", lost)).report.causes
    assert cause.cause == "retracing"
    return cause


def again(number, *changes, cause="signature", function="train_step", place="train.py:41", **more):
    return Trace(number, function, place, 0.050, 0.040, cause, number, 50, 0, changes, **more)
