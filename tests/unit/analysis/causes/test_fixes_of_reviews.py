"""Advice that was once given to readers who had no such line, or had it on already."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.drifting_steps import DRIFT, drift
from unit.analysis.steady_steps import SIZE, STEP, at

from tb_slowdown_plugin.records.capture import PARTS, CapturedItem, CapturedSteps
from tb_slowdown_plugin.records.types import Change, Environment, Epoch, Fact, GcPause, Trace

WAIT = np.where(np.arange(SIZE) < 300, 0.0004, 0.030)


@pytest.fixture
def waits(make_run, find, judge):
    """The advice of a run that waits from step 300 on, with these events."""

    def advice(*facts, captures=(), epochs=()):
        events = [*((0, fact) for fact in facts), *((row, Epoch(row)) for row in epochs)]
        run = make_run(
            STEP + WAIT,
            accounts={"input_wait": WAIT},
            events=sorted(events, key=lambda event: event[0]),
        )
        lost = np.where(WAIT > 0.001, WAIT, 0.0)
        run = replace(run, captured=tuple(captures))
        (cause,) = judge(run, find("input_wait", "level_shift", lost)).report.causes
        return cause.advice

    return advice


@pytest.fixture
def retraced(make_run, find, judge):
    """The advice of a run with these traces, in its last rows."""

    def advice(*traces, facts=()):
        rows = range(SIZE - len(traces), SIZE)
        lost = np.zeros(SIZE)
        lost[list(rows)] = 0.050
        events = [*((0, fact) for fact in facts), *zip(rows, traces, strict=True)]
        run = make_run(STEP + lost, accounts={"tracing:again": lost}, events=events)
        (cause,) = judge(run, find("tracing:again", "flat", lost)).report.causes
        return cause.advice

    return advice


def again(number, *changes, function="train_step", place="train.py:41", cause="signature"):
    return Trace(number, function, place, 0.05, 0.04, cause, number, 50, 0, changes)


def code_of(advice):
    return "\n".join(each.code for each in advice)


def pipeline(stages, **numbers):
    return Fact("input_pipeline", stages, {name: float(each) for name, each in numbers.items()})


def test_what_is_on_already_is_not_advised(waits):
    on = pipeline("TensorSlice Cache Shuffle Batch ParallelMap Prefetch", shuffle_buffer=500)
    assert waits(on, epochs=(0, 300)) == ()
    missing = waits(pipeline("TensorSlice Map Batch"), epochs=(0, 300))
    for name in ("num_parallel_calls", "prefetch", "cache"):
        assert name in code_of(missing)


def test_no_shuffle_advice_where_no_buffer_was_seen(make_run, find, judge):
    first = np.arange(0, SIZE, 100)
    epochs = [(int(row), Epoch(number)) for number, row in enumerate(first)]
    for stages, told in (("Range Batch", False), ("Range Shuffle Batch", True)):
        run = make_run(
            STEP + at(first, 1.2),
            accounts={"input_wait": at(first, 1.2)},
            events=[(0, pipeline(stages)), *epochs],
        )
        (cause,) = judge(run, find("input_wait", "epoch_boundary", at(first, 1.2))).report.causes
        assert ("shuffle" in code_of(cause.advice)) is told


def test_arrays_in_fit_get_advice_for_arrays(waits):
    advice = waits(pipeline("Range Map Prefetch FlatMap Map Shuffle", arrays=1, shuffle_buffer=9))
    assert [" ".join(each.text.split()[:4]) for each in advice] == [
        "Turn the arrays into",
        "Use larger batches: each",
        "Run 16 batches in",
    ]
    assert "shuffle(100_000)" not in code_of(advice)


def test_python_that_takes_the_time_is_replaced_not_run_in_parallel(waits):
    """27.6 of 28 ms in `EagerPyFunc`: `num_parallel_calls` gains nothing there."""
    parts = dict.fromkeys(PARTS, 0.0) | {"input": 0.028}
    items = (
        CapturedItem("stage", "input", "Iterator::Root::Map", 0.028),
        CapturedItem("operation", "input", "EagerPyFunc:EagerPyFunc", 0.0276),
    )
    captured = CapturedSteps("s", (400, 409), 10, 0.028, parts, items, (), ())
    advice = waits(captures=[captured])
    assert advice[0].text.startswith(
        "Replace `tf.py_function` or `tf.numpy_function` in the pipeline (it takes 27.6 ms per "
        "step)"
    )
    assert "multiprocessing" in advice[1].code
    assert "num_parallel_calls" not in code_of(advice)
    assert "num_parallel_calls" in waits()[0].code


def test_reduce_retracing_that_is_on_is_not_advised(retraced):
    shapes = [again(n, Change("x", "shape", f"({n}, 4)", f"({n + 1}, 4)")) for n in range(2, 12)]
    assert "reduce_retracing=True" in code_of(retraced(*shapes))
    on = Fact("function_options", "train_step (train.py:41)", {"reduce_retracing": 1.0})
    assert "reduce_retracing" not in code_of(retraced(*shapes, facts=[on]))
    other = Fact("function_options", "test_step (train.py:90)", {"reduce_retracing": 1.0})
    assert "reduce_retracing" in code_of(retraced(*shapes, facts=[other]))


def test_three_functions_get_advice_with_their_names(retraced):
    change = Change("x", "shape", "(2, 4)", "(3, 4)")
    names = [f"a_function_with_a_long_name_{number}" for number in range(3)]
    advice = retraced(*(again(n, change, function=name) for n in (2, 3) for name in names))
    generalize = [each.text for each in advice if "reduce_retracing" in each.code]
    assert len(generalize) == len(set(generalize))
    assert all(any(name in text for name in names) for text in generalize)
    assert len({each.text for each in advice}) == len(advice)


@pytest.mark.parametrize("kind", ["generator", "list_iterator", "OwnedIterator", "zip"])
def test_a_generator_is_never_kept(retraced, kind):
    """Its first values would be constants of the graph: it would train on them for ever."""
    change = Change("batches", "python_object", f"{kind} object, gone", f"{kind} object, a new one")
    advice = retraced(*(again(n, change) for n in range(2, 9)))
    assert not any(each.text.startswith("Keep one object") for each in advice)
    assert advice[0].text.startswith("Take the next value out of `batches`")


def test_a_pasted_line_passes_no_ellipsis(retraced):
    change = Change("temperature", "python_number", "Python float 1.09", "Python float 1.1")
    advice = retraced(*(again(n, change) for n in range(2, 9)))
    assert advice[0].code == "+ temperature = tf.constant(temperature, tf.float32)"
    assert advice[0].where == "where `train_step` is called"
    assert not any("..." in each.code for each in advice)


def test_a_method_of_a_class_made_anew_is_not_hoisted_as_a_function(retraced):
    traces = [again(n, function="Trainer.step", cause="new_object") for n in range(2, 9)]
    advice = retraced(*traces)
    assert advice[0].text.startswith("Create the `Trainer` once, before the loop")
    assert "trainer = Trainer()" in advice[0].code


def test_saves_fit_the_length_of_the_run(make_run, find, judge):
    """Every 1,000 batches would never save in a run of 600."""
    saving = np.zeros(SIZE)
    saving[99::100] = 4.0
    run = make_run(STEP + saving, accounts={"checkpoint:ModelCheckpoint": saving})
    (cause,) = judge(run, find("checkpoint:ModelCheckpoint", "periodic", saving)).report.causes
    assert "save_freq=200)" in cause.advice[0].code
    assert "1,000 batches" not in cause.advice[0].text


def test_a_save_in_a_callback_gets_a_callback(make_run, find, judge):
    saving = np.zeros(SIZE)
    saving[99::100] = 1.0
    for in_callback in (True, False):
        numbers = {"in_callback": 1.0} if in_callback else {}
        events = [(99, Fact("checkpoint_from", "callbacks.py:12", numbers))]
        run = make_run(STEP + saving, accounts={"checkpoint:model.save": saving}, events=events)
        (cause,) = judge(run, find("checkpoint:model.save", "periodic", saving)).report.causes
        assert ("on_train_batch_end" in cause.advice[0].code) is in_callback
        assert ("for step, batch" in cause.advice[0].code) is not in_callback
        assert {each.where for each in cause.advice} == {"at callbacks.py:12"}


def test_collections_that_the_program_asks_for_are_removed_at_their_line(make_run, find, judge):
    pauses = at(np.arange(39, SIZE, 40), 0.3)
    collections = [(int(row), GcPause(2, 0.3, 9)) for row in np.flatnonzero(pauses)]
    asked = [(39, 1.0), (79, 2.0), (159, 4.0), (319, 8.0)]
    forced = [(row, Fact("gc_forced", "train.py:58", {"calls": calls})) for row, calls in asked]
    for events, first, freezes in (
        ([*collections, *forced], "Remove `gc.collect()` at train.py:58", False),
        (collections, "Look for a `gc.collect()`", True),
    ):
        events = sorted(events, key=lambda event: event[0])
        run = make_run(STEP + pauses, accounts={"gc": pauses}, events=events)
        (cause,) = judge(run, find("gc", "flat", pauses)).report.causes
        assert cause.advice[0].text.startswith(first)
        assert any("gc.freeze" in each.code for each in cause.advice) is freezes


def test_plots_that_stay_open_are_closed(make_run, find, judge):
    place = {"samples": 40.0, "of": 50.0}
    for numbers, first in (
        (place | {"in:matplotlib": 38.0}, "Close each figure"),
        (place | {"in:numpy": 5.0}, "Look at `draw (plots.py:8)`"),
    ):
        events = [(SIZE - 1, Fact("python_stack", "draw (plots.py:8)", numbers))]
        run = make_run(DRIFT, process_cpu=DRIFT, thread_cpu=0.98 * DRIFT, events=events)
        (cause,) = judge(run, drift(find)).report.causes
        assert cause.cause == "python_overhead"
        assert cause.advice[0].text.startswith(first)
        assert ("losses.append" in code_of(cause.advice)) is (first[0] == "L")


def test_the_late_worker_is_named_in_the_advice(make_run, find, judge):
    late = np.full(SIZE, 0.006)
    members = [
        replace(
            make_run(STEP + late, accounts=accounts),
            environment=Environment(worker_index=index, worker_count=2),
        )
        for index, accounts in enumerate(
            (
                {"communication": 0.002 + late},
                {"communication": 0 * late + 0.002, "input_wait": late},
            )
        )
    ]
    run = replace(members[0], workers=tuple(members[1:]))
    (cause,) = judge(run, find("communication", "flat", late)).report.causes
    assert cause.advice[0].text.startswith(
        "Look at worker 1: all others wait for it. It spends more time in `input_wait`"
    )
