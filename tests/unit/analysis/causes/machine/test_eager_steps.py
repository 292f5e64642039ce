"""What is said of steps that no `tf.function` runs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import CollectorState, Environment, Fact, Trace

SIZE = 100
STEP = np.full(SIZE, 0.010)


@pytest.fixture
def told(make_run, judge):
    def tell(*, busy=0.95, watched="running", traces=(), size=SIZE, accounts=None):
        run = make_run(STEP[:size], thread_cpu=busy * STEP[:size], events=traces, accounts=accounts)
        environment = Environment(collectors=(CollectorState("tracing", watched, ""),))
        report = judge(replace(run, environment=environment)).report
        shortly = "No `tf.function` was traced: if the step runs none, one may make it far faster."
        is_told = any(note.startswith("No `tf.function` was traced") for note in report.notes)
        assert (shortly in report.headline) == is_told
        return [note for note in report.notes if note.startswith("No `tf.function` was traced")]

    return tell


def test_a_run_whose_operations_are_started_from_python_is_told(told):
    library = Trace(1, "grab_batch", "keras/array_data_adapter.py:2", 0.01, 0.01, "library")
    for traces in ((), [(3, library)]):
        (note,) = told(traces=traces)
        assert note == (
            "No `tf.function` was traced in this run, and the training thread computed for 95.0% "
            "of it: unless the step was traced before, each of its operations is started from "
            "Python. As a `tf.function`, or in Keras without `run_eagerly=True`, it may be several "
            "times as fast."
        )


@pytest.mark.parametrize(
    "otherwise",
    [
        {"traces": [(0, Trace(1, "train", "train.py:3", 0.1, 0.1, "first"))]},
        {"accounts": {"tracing:first": 0.1 * STEP}},
        {"busy": 0.5},
        {"busy": np.nan},
        {"watched": "unavailable"},
        {"size": 10},
    ],
    ids=["a graph", "its account", "it waits", "nothing known", "not watched", "short"],
)
def test_nothing_is_said_otherwise(told, otherwise):
    assert told(**otherwise) == []


def test_a_session_runs_a_graph_without_any_trace(make_run, judge):
    """Eager execution is off: the default graph has operations."""
    signals = {"graph_operations": np.full(5, 72.0)}
    run = make_run(STEP, thread_cpu=0.95 * STEP, signals=signals, signal_rows=np.arange(0, 100, 20))
    environment = Environment(collectors=(CollectorState("tracing", "running", ""),))
    assert judge(replace(run, environment=environment)).report.notes == ()


def test_where_samples_saw_it_the_note_says_what_a_graph_would_spare(make_run, judge):
    numbers = {"samples": 20.0, "of": 20.0, "eager_training": 12.0, "no_graph": 8.0}
    seen = Fact("python_stack", "step (dqn.py:7)", {**numbers, "long_training": 1.0})
    run = make_run(STEP, events=[(row, seen) for row in range(10, 15)])
    report = judge(replace(run, steps=replace(run.steps, ran=np.ones(SIZE, int)))).report
    assert report.headline == (
        "No slowdown found in 1 s. But its steps run no graph: as a `tf.function` they would take "
        "at least 73% less."
    )
    assert (
        "The steps run no graph: of 100 samples of the training thread's stack, 100 were in "
        "TensorFlow or Keras outside of one, most of them in `step (dqn.py:7)`, and 5 of these in "
        "an operation that went on. Python starts each operation. As a `tf.function`, or in Keras "
        "without `run_eagerly=True`, the run would take at least 73% less."
    ) in report.notes
