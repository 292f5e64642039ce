"""Calls of `predict` in a loop: one cause with their line, whatever TensorFlow does in them."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 400
CALL = np.full(SIZE, 0.050)
ACCOUNT = "predict:agent.py:88"


def test_predict_in_each_step_is_one_cause_with_its_line(make_run, find, judge):
    run = make_run(0.010 + CALL, accounts={ACCOUNT: CALL})
    report = judge(run, find(ACCOUNT, "flat", CALL)).report

    (cause,) = report.causes
    assert (cause.cause, cause.lost_seconds) == ("retracing", pytest.approx(20.0))
    assert report.headline.endswith(" calls to predict (agent.py:88).")
    assert cause.summary == (
        "`predict()` runs at every step, on a few examples (agent.py:88). Each such step "
        "spends 50 ms on the call itself, not counting what the model computes."
    )
    assert cause.evidence[0] == (
        "20.0 s (83.3% of the run) went into `predict()` at agent.py:88: 50 ms per step on "
        "average in steps 0\u2013399."
    )
    assert cause.evidence[1].startswith("Each call makes a dataset of its arguments")
    assert [advice.code.splitlines()[1] for advice in cause.advice] == [
        "+ y = model(x, training=False)",
        "+ y = model.predict_on_batch(x)",
    ]


def test_calls_in_two_lines_are_told_together(make_run, find, judge):
    other = "predict:agent.py:97"
    run = make_run(0.010 + 3 * CALL, accounts={ACCOUNT: CALL, other: 2 * CALL})
    found = (find(ACCOUNT, "flat", CALL), find(other, "flat", 2 * CALL))
    (cause,) = judge(run, *found).report.causes
    assert cause.summary == (
        "`predict()` runs at every step, on a few examples (agent.py:97, and 1 other line). Each "
        "such step spends 150 ms on these calls, not counting what the model computes."
    )


def test_calls_of_two_methods_are_two_rows_each_with_its_advice(make_run, find, judge):
    fits = "call:fit (agent.py:99)"
    run = make_run(0.010 + 1.5 * CALL, accounts={ACCOUNT: CALL, fits: 0.5 * CALL})
    found = (find(ACCOUNT, "flat", CALL), find(fits, "flat", 0.5 * CALL))
    first, second = judge(run, *found).report.causes
    assert [first.lost_seconds, second.lost_seconds] == pytest.approx([20.0, 10.0])
    assert (first.place.line, second.place.line) == (88, 99)
    assert first.advice[0].text.startswith("Call `model(x, training=False)` instead of `predict`")
    assert second.advice[0].text.startswith("Call `train_on_batch` instead of `fit`")


def test_predict_beside_more_tracing_is_told_after_it(make_run, find, judge):
    traced = np.full(SIZE, 0.080)
    run = make_run(0.010 + CALL + traced, accounts={ACCOUNT: CALL, "tracing:library": traced})
    found = (find(ACCOUNT, "flat", CALL), find("tracing:library", "flat", traced))
    (cause,) = judge(run, *found).report.causes

    assert cause.lost_seconds == pytest.approx(52.0)
    assert cause.summary.startswith("The program re-creates a dataset, iterator, or model")
    assert cause.evidence[0] == "32.0 s was lost in traces of such functions."
    assert "went into `predict()` at agent.py:88" in cause.evidence[1]


def test_the_engine_names_it_from_five_percent_on():
    from tb_slowdown_plugin.analysis import diagnose

    random = np.random.default_rng(3)
    work = 0.100 + 0.001 * random.random(SIZE)
    at_epochs = np.where(np.arange(SIZE) % 40 == 39, 0.050, 0.0)

    def causes(spent):
        return [cause.cause for cause in diagnose(work + spent, measured={ACCOUNT: spent}).causes]

    assert causes(at_epochs) == []
    assert causes(CALL) == ["retracing"]
