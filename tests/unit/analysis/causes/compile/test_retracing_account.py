"""Retracing: the sentences and the numbers of the most wanted cause."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.records.types import Change, Execution, Trace


def _python_number(make_run, *, every=1, size=400, second_runs=True):
    """A float argument with a new value every few steps: 20 ms to trace, 10 ms too long to run."""
    period = np.full(size, 0.005)
    again = np.zeros(size)
    first_run = np.zeros(size)
    events = [(0, Trace(1, "train_step", "train.py:41", 0.5, 0.4, "first", operations=50))]
    period[0] += 0.5
    first = np.zeros(size)
    first[0] = 0.5
    for number, row in enumerate(range(every, size, every), start=2):
        change = Change(
            "temperature", "python_number", f"Python float {row - every}", f"Python float {row}"
        )
        trace = Trace(
            number, "train_step", "train.py:41", 0.020, 0.015, "signature", number, 50, 0, (change,)
        )
        events.append((row, trace))
        events.append((row, Execution(number, 1, 0.014)))
        if second_runs and row + 1 < size and every > 1:
            events.append((row + 1, Execution(number, 2, 0.004)))
        again[row] = 0.020
        first_run[row] = 0.014
        period[row] += 0.030
    return make_run(
        period,
        accounts={
            "tracing:first": first,
            "tracing:again": again,
            "first_execution:again": first_run,
        },
        events=events,
    )


def test_a_python_number_is_named_with_place_argument_and_seconds(make_run):
    report = account_for(_python_number(make_run, every=4)).report

    assert report.verdict == "slowdown"
    cause = report.causes[0]
    assert cause.cause == "retracing"
    # 99 retraces of 20 ms and 10 ms of first run beyond the steady 4 ms.
    assert cause.lost_seconds == pytest.approx(99 * 0.030)
    assert cause.confidence == "high"
    assert cause.steps == (4, 396)
    assert cause.summary == (
        "Argument `temperature` is a Python float with a new value every 4 steps, so TensorFlow "
        "retraces the function."
    )
    assert cause.evidence[0] == (
        "99 retraces of `train_step` (train.py:41) took 2.97 s: 1.98 s of tracing, 990 ms extra "
        "in the first execution of each new graph."
    )
    assert cause.evidence[1] == (
        "`temperature`: Python float 0 \u2192 4, 4 \u2192 8, \u2026 392 \u2192 396."
    )
    assert report.headline == (
        "3.47 s of 5.47 s lost (63%). Biggest cause: retracing of train_step (train.py:41)."
    )
    assert "tf.constant(temperature, tf.float32)" in cause.advice[0].code


def test_the_ledger_adds_up_in_every_step(make_run):
    run = _python_number(make_run, every=4)
    account = account_for(run)
    report = account.report

    lost = sum(cause.lost_seconds for cause in report.causes) + report.unexplained_seconds
    assert lost == pytest.approx(report.lost_seconds)
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(total, run.steps.period_seconds, atol=1e-9)
    for cause in report.causes:
        assert account.lost_per_step[cause.cause].sum() == pytest.approx(cause.lost_seconds)


def test_card_table_and_ticks_are_of_the_same_seconds(make_run):
    # Half of each trace is a collection of garbage, which the accounts of the steps hold apart.
    run = _python_number(make_run, every=4)
    run.steps.accounts["tracing:again"][:] /= 2
    run.steps.accounts["gc"] = run.steps.accounts["tracing:again"].copy()
    account = account_for(run)

    (cause,) = (cause for cause in account.report.causes if cause.cause == "retracing")
    timed = pytest.approx(99 * 0.020)
    assert (cause.lost_seconds, retraces(run)["seconds"]) == (timed, timed)
    assert account.marks["retraces"][1].sum() == timed
    assert "took 1.98 s: 990 ms of tracing" in cause.evidence[0]


def test_a_trace_in_another_thread_is_no_retrace_of_the_steps(make_run):
    trace = Trace(1, "decode", "data.py:3", 0.5, 0.5, "signature", elsewhere=True)
    run = make_run(np.full(200, 0.005), events=[(50, trace)])
    assert retraces(run)["traces"] == 0
    assert len(account_for(run).marks["retraces"][0]) == 0
