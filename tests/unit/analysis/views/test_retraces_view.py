"""The retraces table: groups, costs, examples."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.records.run import Session
from tb_slowdown_plugin.records.types import Change, CollectorState, Execution, Trace

RUNNING = [CollectorState("tracing", "running")]


def number(n):
    change = Change("lr", "python_number", f"Python float {n}", f"Python float {n + 1}")
    return Trace(n, "train_step", "train.py:41", 0.3, 0.1, "signature", n, 259, 0, (change,))


def test_traces_are_grouped_by_function_place_cause_and_argument(make_run):
    shape = Change("x", "shape", "(3,)", "(4,)")
    events = [(0, Trace(1, "train_step", "train.py:41", 5.0, 5.0, "first"))]
    for n in range(2, 42):
        events.append((n * 2, number(n)))
        events.append((n * 2, Execution(n, 1, 0.14)))
        events.append((n * 2 + 1, Execution(n, 2, 0.04)))
    events.append(
        (90, Trace(50, "train_step", "train.py:41", 9.0, 9.0, "signature", 9, 1, 0, (shape,)))
    )
    events.append((91, Trace(51, "scale", "data.py:3", 9.0, 9.0, "library")))
    body = retraces(make_run(np.full(100, 0.01), events=events, collectors=RUNNING))

    assert body["status"] == {"status": "measured", "reason": ""}
    assert (body["watched"], body["traces"]) == (1, 41)
    assert body["seconds"] == pytest.approx(40 * 0.4 + 9.0)
    first, second = body["groups"]
    assert (first["argument"], first["what"], first["count"]) == ("lr", "python_number", 40)
    # 0.3 s of tracing and 0.1 s of first run beyond the steady one, 40 times.
    assert first["seconds"] == pytest.approx(16.0)
    assert (first["first_step"], first["last_step"]) == (4, 82)
    assert first["fix"] == "Pass a tensor."
    assert (second["argument"], second["seconds"]) == ("x", pytest.approx(9.0))
    assert len(first["spark"]) == 40
    assert sum(first["spark"]) == pytest.approx(16.0)
    json.dumps(body, allow_nan=False)


def test_functions_of_libraries_that_are_traced_again_stand_apart(make_run):
    def made(n, function, place, **more):
        return Trace(n, function, place, 0.2, 0.1, "library", n, 259, **more)

    events = [
        *((n * 10, made(n, "scale", "data.py:3")) for n in range(1, 6)),
        (3, made(7, "batch", "data.py:9")),  # once
        *((n, made(n, "decode", "data.py:1", elsewhere=True)) for n in (20, 21)),
    ]
    body = retraces(make_run(np.full(100, 0.01), events=events, collectors=RUNNING))
    assert (body["watched"], body["traces"], body["seconds"], body["groups"]) == (0, 0, 0.0, [])
    (group,) = body["library"]
    assert (group["function"], group["location"], group["cause"]) == (
        "scale", "data.py:3", "library",
    )  # fmt: skip
    # All but the first.
    assert (group["count"], group["seconds"]) == (4, pytest.approx(0.8))
    assert (group["first_step"], group["last_step"]) == (20, 50)
    assert group["fix"] == "Create the dataset, iterator, or model once."


@pytest.mark.parametrize(
    ("function", "cause", "after", "fix"),
    [
        ("Keras train step", "new_object", "", "Compile the model once, before the loop."),
        ("train_step", "new_object", "", "Create the tf.function once, before the loop."),
        ("run_on", "signature", "method object, a new object", "Read the method once, before"),
        ("run_on", "signature", "Config object, a new object", "Pass the object's tensors"),
    ],
)
def test_the_fix_in_a_few_words_fits_the_program(make_run, function, cause, after, fix):
    changes = (Change("step", "python_object", "gone", after),) if after else ()
    events = [
        (n, Trace(n, function, "train.py:41", 0.3, 0.1, cause, n, 259, 0, changes))
        for n in (1, 2, 3)
    ]
    (group,) = retraces(make_run(np.full(100, 0.01), events=events))["groups"]
    assert group["fix"].startswith(fix)


def test_examples_are_the_first_and_the_last(make_run):
    events = [(n, number(n)) for n in range(1, 61)]
    (group,) = retraces(make_run(np.full(100, 0.01), events=events))["groups"]

    assert [example["row"] for example in group["examples"]] == [
        *range(1, 11),
        *range(51, 61),
    ]
    assert group["examples"][0] == {
        "row": 1,
        "step": 1,
        "seconds": 0.3,
        "building_seconds": 0.1,
        "execution_seconds": 0.0,
        "operations": 259,
        "changes": [
            {
                "argument": "lr",
                "what": "python_number",
                "before": "Python float 1",
                "after": "Python float 2",
            }
        ],
    }


def test_the_same_number_in_two_sessions_is_two_traces(make_run):
    # A resumed run counts traces from 1 again; its executions are its own.
    events = [
        (1, number(1)),
        (1, Execution(1, 1, 0.5)),
        (50, number(1)),
        (50, Execution(1, 1, 0.9)),
    ]
    period = np.full(100, 1.0)
    sessions = [Session("a", 0, 1_700_000_000.0, 1, 0), Session("b", 50, 1_700_000_050.0, 1, 0)]
    (group,) = retraces(make_run(period, events=events, sessions=sessions))["groups"]

    assert [example["execution_seconds"] for example in group["examples"]] == [0.5, 0.9]


def test_a_collector_that_did_not_run_says_why(make_run):
    off = [CollectorState("tracing", "unavailable", "another tracing entry point")]
    assert retraces(make_run([0.01], collectors=off))["status"] == {
        "status": "unavailable",
        "reason": "another tracing entry point",
    }
    assert retraces(make_run([]))["status"]["status"] == "unavailable"


def test_an_event_after_the_last_step_belongs_to_it(make_run):
    (group,) = retraces(make_run([0.01] * 3, events=[(3, number(1))]))["groups"]
    assert (group["first_step"], group["examples"][0]["step"]) == (2, 2)
