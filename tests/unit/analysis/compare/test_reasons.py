"""Why two runs differ: the argument that became a number, the stage that became slower."""

from __future__ import annotations

import event_files

from tb_slowdown_plugin.analysis.compare.reasons import facts_of, find_reason, tell_other_programs
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import (
    Change,
    Environment,
    Event,
    Fact,
    Trace,
    TraceCause,
    What,
    no_signals,
)

X = "tf.TensorSpec(shape=[64, 8], dtype=tf.float32)"
RATE = "tf.TensorSpec(shape=[], dtype=tf.float32)"
NAMES = ("run-06", "run-07")


def made_of(*what: What) -> Run:
    steps = event_files.make_steps(10)
    events = tuple(Event(row, float(row), each) for row, each in enumerate(what))
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    return Run("run", steps, no_signals(), events, Environment(), (session,))


def trace(*signature: str, before: str = "", after: str = "") -> Trace:
    changes = (Change("rate", "python_number", before, after),) if before else ()
    cause: TraceCause = "signature" if changes else "first"
    return Trace(
        1, "train_step", "train.py:41", 1.0, 1.0, cause, changes=changes, signature=signature
    )


FAST = facts_of(made_of(trace(X, RATE)))
SLOW = facts_of(made_of(trace(X, ""), trace(X, "", before="float 0.1", after="float 0.2")))


def test_an_argument_that_was_a_tensor_is_named_with_the_run_where_it_was() -> None:
    text = "`rate` of train_step was a tensor in {}, here it is float 0.1 to float 0.2."
    assert find_reason("retracing", FAST, SLOW, NAMES) == text.format("run-06")
    assert find_reason("retracing", SLOW, FAST, NAMES) == text.format("run-07")


def test_where_the_other_run_had_no_such_argument_the_change_is_told() -> None:
    other = facts_of(made_of(trace(X)))
    expected = "`rate` of train_step changes from call to call: float 0.1 to float 0.2."
    assert find_reason("retracing", other, SLOW, NAMES) == expected
    assert find_reason("retracing", SLOW, SLOW, NAMES) == ""


def test_runs_without_a_function_in_common_may_be_of_different_programs() -> None:
    other = facts_of(made_of(Trace(1, "learn", "other.py:7", 1.0, 1.0, "first", signature=(X,))))
    assert list(tell_other_programs(FAST, other)) == [
        "No function that one side traced (train_step) was traced by the other (learn): if these "
        "are different programs, the difference isn't that of a change."
    ]
    assert list(tell_other_programs(FAST, SLOW)) == []
    assert list(tell_other_programs(FAST, facts_of(made_of()))) == []


def stage(name: str, seconds: float) -> Fact:
    return Fact("input_stage", name, {"seconds_per_element": seconds})


def test_a_stage_that_became_slower_is_told_with_both_times() -> None:
    before = facts_of(made_of(stage("Map#3", 0.291)))
    after = facts_of(made_of(stage("Map#5", 0.717)))
    expected = "Stage `Map`: 291 ms to 717 ms an element."
    assert find_reason("input_pipeline", before, after, NAMES) == expected
    assert find_reason("input_pipeline", before, before, NAMES) == ""
    assert find_reason("input_pipeline", facts_of(made_of()), after, NAMES) == ""
    assert find_reason("garbage_collection", before, after, NAMES) == ""
