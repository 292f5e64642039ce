"""Gradient tapes that stay open: named with memory that grows, or by the steps in them."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, SAMPLED, SIZE, drift

from tb_slowdown_plugin.records.types import Fact


def test_an_open_tape_needs_memory_that_goes_on_growing(make_run, find, judge):
    open_tape = (500, Fact("open_tape", "main (train.py:7)", {"age_steps": 500}))

    def causes(memory):
        run = make_run(
            DRIFT, signals={"rss_bytes": memory}, signal_rows=SAMPLED, events=[open_tape]
        )
        return [cause.cause for cause in judge(run, drift(find)).report.causes]

    assert causes(1e9 + 1e6 * SAMPLED) == ["tensor_retention"]
    assert causes(1e9 + 3e8 * (SAMPLED >= 300)) == []


def test_a_tape_that_stays_open(make_run, find, judge):
    run = make_run(
        DRIFT,
        signals={"rss_bytes": 2.0**30 * (1 + SAMPLED / 600)},
        signal_rows=SAMPLED,
        events=[(255, Fact("open_tape", "main (train.py:7)", {"age_steps": 255}))],
    )
    (cause,) = judge(run, drift(find)).report.causes

    assert (cause.cause, cause.confidence) == ("tensor_retention", "medium")
    assert cause.summary == (
        "The gradient tape opened by `main (train.py:7)` records step after step, so none of its "
        "tensors can be freed."
    )
    assert cause.evidence[:2] == (
        "The tape was open for 255 steps when it was last sampled.",
        "Host memory rose from 1.16 GiB around step 96 to 1.83 GiB around step 496.",
    )
    assert cause.advice[0].text.startswith("Open one `tf.GradientTape`")


def test_tapes_that_slow_the_steps_in_them(make_run, find, judge):
    lost = 0.001 * (np.arange(SIZE) % 50)
    tapes = [
        (row, Fact("open_tape", f"main (train.py:{line})", {"age_steps": age}))
        for row, line, age in ((45, 7, 45), (95, 7, 20), (99, 9, 12))
    ]
    place = "main (train.py:7)"
    run = make_run(0.010 + lost, accounts={f"open_tape:{place}": lost}, events=tapes)
    (cause,) = judge(run, find(f"open_tape:{place}", "flat", lost)).report.causes

    assert (cause.cause, cause.place.line) == ("tensor_retention", 7)
    assert cause.lost_seconds == pytest.approx(14.7)
    assert cause.evidence == (
        "A tape was open for up to 45 steps. The longer it was open, the longer the step took.",
        "14.7 s (71.0% of the run) is what steps took beyond the first ones of each tape: 24.5 ms "
        "per step on average in steps 1\u2013599.",
    )


def test_an_open_tape_beside_regular_slow_steps_is_a_suspect(make_run, find, judge):
    slow = np.where(np.arange(SIZE) % 20 == 0, 0.100, 0.0)
    run = make_run(
        0.010 + slow, events=[(255, Fact("open_tape", "main (train.py:7)", {"age_steps": 255}))]
    )
    report = judge(run, find("core", "periodic", slow, confidence="medium")).report

    assert report.causes == ()
    (suspect,) = report.suspects
    assert (suspect.cause, suspect.seconds) == ("tensor_retention", pytest.approx(3.0))
    assert suspect.why.startswith(
        "The gradient tape that `main (train.py:7)` opened was open for 255 steps"
    )
