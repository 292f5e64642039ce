"""Whatever a recording holds: no exception, and the ledger adds up in every step."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.analysis.views.timeline import timeline
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import (
    Capture,
    Change,
    Environment,
    Epoch,
    Event,
    Execution,
    Fact,
    Failure,
    GcPause,
    Idle,
    SignalTable,
    StepTable,
    Trace,
)

ACCOUNTS = (
    "input_wait",
    "tracing:first",
    "tracing:again",
    "tracing:library",
    "first_execution:first",
    "first_execution:again",
    "gc",
    "callback:Slow",
    "checkpoint:ModelCheckpoint",
    "summary",
    "validation",
    "communication",
    "forward",
    "backward",
    "optimizer",
    "phase:replay",
)
SIGNALS = (
    "rss_bytes",
    "major_faults",
    "graph_operations",
    "eager_functions",
    "allocator_in_use_bytes:GPU:0",
    "thread_run_delay_seconds",
    "throttled_seconds",
    "of_a_later_version",
)
CAUSES = ("first", "signature", "new_object", "variables", "library", "context", "reported")
WHATS = (
    "shape",
    "dtype",
    "rank",
    "python_number",
    "python_value",
    "python_object",
    "none",
    "structure",
    "spec",
    "of_a_later_version",
)


@st.composite
def whats(draw):
    seconds = draw(st.floats(0, 1))
    number = draw(st.integers(1, 5))
    text = st.text(max_size=12)
    argument = st.sampled_from(["x", "cfg['b']", ""])
    change = st.builds(Change, argument, st.sampled_from(WHATS), text, text)
    changes = draw(st.lists(change, max_size=2))
    spec = st.sampled_from(["", "tf.TensorSpec(shape=[], dtype=tf.int32)"])
    signature = draw(st.lists(spec, max_size=2))
    return draw(
        st.sampled_from(
            [
                Trace(
                    number,
                    draw(st.sampled_from(["f", "A.g", "<lambda>", "Keras train step"])),
                    draw(st.sampled_from(["a.py:1", ""])),
                    seconds,
                    seconds / 2,
                    draw(st.sampled_from(CAUSES)),
                    changes=tuple(changes),
                    elsewhere=draw(st.booleans()),
                    signature=tuple(signature),
                ),
                Execution(number, draw(st.integers(1, 2)), seconds, draw(st.booleans())),
                GcPause(draw(st.integers(0, 2)), seconds, 3, draw(st.booleans())),
                Epoch(number),
                Idle(seconds),
                Failure("gc", "no"),
                Capture("a", draw(st.booleans())),
                Fact("of_a_later_version"),
            ]
        )
    )


@st.composite
def runs(draw):
    size = draw(st.sampled_from([0, 1, 2, 19, 60, 150, 300]))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    period = 0.010 * np.exp(draw(st.floats(0, 0.5)) * random.standard_normal(size))
    shapes = {
        "flat": np.ones(size),
        "late": (np.arange(size) > size / 2).astype(float),
        "grows": np.linspace(0, 1, size),
        "periodic": (np.arange(size) % 10 == 9).astype(float),
        "start": (np.arange(size) < 3).astype(float),
    }
    accounts = {}
    for name in draw(st.lists(st.sampled_from(ACCOUNTS), max_size=4, unique=True)):
        accounts[name] = draw(st.floats(0, 0.05)) * shapes[draw(st.sampled_from(sorted(shapes)))]
        period = period + accounts[name]
    period = period + draw(st.floats(0, 0.02)) * shapes[draw(st.sampled_from(sorted(shapes)))]
    ended = 1_700_000_000 + np.cumsum(period)
    cpu = period if draw(st.booleans()) else np.full(size, np.nan)
    steps = StepTable(
        np.arange(size),
        period,
        period,
        cpu,
        cpu,
        ended,
        np.full(size, np.nan),
        np.zeros(size, np.int64),
        ("train",),
        accounts,
    )
    rows = np.arange(0, size, 7)
    signals = {
        name: np.where(random.random(len(rows)) < 0.1, np.nan, np.cumsum(random.random(len(rows))))
        for name in draw(st.lists(st.sampled_from(SIGNALS), max_size=3, unique=True))
    }
    found = draw(st.lists(st.tuples(st.integers(0, size), whats()), max_size=25))
    events = tuple(
        Event(row, float(ended[min(row, size - 1)]) if size else 0.0, what)
        for row, what in sorted(found, key=lambda pair: pair[0])
    )
    return Run(
        "run",
        steps,
        SignalTable(ended[rows] if size else np.empty(0), rows, signals),
        events,
        Environment(),
        (Session("a", 0, 1_700_000_000.0, 1, 0),),
    )


# Drawn at random, events may say that they took longer than the run.
@pytest.mark.contradictory_records
@settings(max_examples=150, deadline=None)
@given(runs())
def test_any_recording_has_an_account_that_adds_up(run):
    account = account_for(run)
    report = account.report

    named = sum(cause.lost_seconds for cause in report.causes)
    tolerance = 1e-6 + 1e-6 * report.wall_seconds
    assert abs(named + report.unexplained_seconds - report.lost_seconds) <= tolerance
    total = account.healthy_per_step + sum(account.lost_per_step.values())
    np.testing.assert_allclose(total, run.steps.period_seconds, atol=1e-9)
    assert {cause.cause for cause in report.causes}.isdisjoint({"workload", "unexplained"})
    rows = {(cause.cause, cause.subject) for cause in report.causes}  # of one cause several defects
    assert len(rows) == len(report.causes)
    assert list(report.causes) == sorted(report.causes, key=lambda cause: -cause.lost_seconds)
    for cause in report.causes:
        assert cause.summary.endswith(".")
        assert cause.evidence
        assert cause.advice
        assert "nan" not in f"{cause.summary} {cause.evidence}".lower()
    json.dumps(retraces(run), allow_nan=False)
    json.dumps(timeline(run, account, 0, max(0, len(run.steps) - 1), 20), allow_nan=False)
