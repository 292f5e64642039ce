"""Why a function was traced again where no argument says it: the function, the model, the call."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.traced_steps import SIZE, again, traced

from tb_slowdown_plugin.analysis.views.retraces_view import retraces
from tb_slowdown_plugin.records.types import Change, Execution, Fact, Trace


def test_a_new_function_object(make_run, find, judge):
    traces = [again(number, cause="new_object") for number in range(2, 12)]
    cause = traced(make_run, find, judge, *traces)

    assert cause.summary == (
        "The program wraps `train_step` in a new `tf.function` at every step, and each one "
        "starts with an empty cache."
    )
    assert "compiled = tf.function(train_step)" in cause.advice[0].code


def test_keras_compiled_again(make_run, find, judge):
    change = Change("model", "python_object", "compiled", "the same model, compiled again")
    traces = [
        again(number, change, cause="new_object", function="Keras train step", place="fit.py:12")
        for number in range(2, 12)
    ]
    cause = traced(make_run, find, judge, *traces)

    assert cause.summary == "The Keras train step is rebuilt at every step: `compile()` runs again."
    assert (cause.place.file, cause.place.line) == ("fit.py", 12)
    assert cause.evidence[0].startswith("10 retraces of the Keras train step (fit.py:12) took ")
    assert [each.text.split("`")[0] for each in cause.advice] == ["Call "]


@pytest.mark.parametrize(("optimizer_line", "causes"), [(11, 1), (7, 2)])
def test_the_line_that_compiles_again_is_the_place_with_its_optimizer(
    make_run, find, judge, optimizer_line, causes
):
    """An optimizer that is made in that line is the same defect; one of another line is not."""
    change = Change("model", "python_object", "compiled", "the same model, compiled again")
    rows = range(SIZE - 10, SIZE)
    lost = np.where(np.arange(SIZE) >= SIZE - 10, 0.050, 0.0)
    facts = [
        Fact("called", "tracing:again|compile|main (fit.py:11)", {"calls": 8.0, "seconds": 0.1}),
        Fact("optimizer_at", f"fit.py:{optimizer_line}"),
    ]
    traces = [
        again(row, change, cause="new_object", function="Keras train step", place="fit.py:12")
        for row in rows
    ]
    run = make_run(
        np.full(SIZE, 0.010) + 2 * lost,
        accounts={"tracing:again": lost, "optimizer_creation": lost},
        events=[*zip(rows, traces, strict=True), *((SIZE - 1, fact) for fact in facts)],
    )
    findings = [find(name, "flat", lost) for name in ("tracing:again", "optimizer_creation")]
    found = {cause.cause: cause for cause in judge(run, *findings).report.causes}
    assert len(found) == causes
    retracing = found["retracing"]
    assert (retracing.place.file, retracing.place.line) == ("fit.py", 11)
    assert retracing.lost_seconds == pytest.approx(1.0 / causes)


@pytest.mark.parametrize(("later", "causes"), [(0, 1), (1, 2)])
def test_the_optimizers_of_new_models_come_with_them(make_run, find, judge, later, causes):
    """Made in the steps that trace the models they are of that defect; in others of another."""
    change = Change(
        "model", "python_object", "Functional object", "Functional object, a new object"
    )
    rows = range(SIZE - 20, SIZE, 2)
    traced_in, made_in = (
        np.isin(np.arange(SIZE), [r + shift for r in rows]) for shift in (0, later)
    )
    events = []
    for number, row in enumerate(rows, start=2):
        step = "Keras train step"
        events += [
            (row, again(number, change, cause="new_object", function=step, place="fit.py:12")),
            (row + later, Fact("optimizer_created", "Adam", {"seconds": 0.05})),
        ]
    run = make_run(
        0.010 + 0.05 * traced_in + 0.05 * made_in,
        accounts={"tracing:again": 0.05 * traced_in, "optimizer_creation": 0.05 * made_in},
        events=events,
    )
    report = judge(
        run,
        find("tracing:again", "flat", 0.05 * traced_in),
        find("optimizer_creation", "flat", 0.05 * made_in),
    ).report
    retracing = next(cause for cause in report.causes if cause.cause == "retracing")
    assert len(report.causes) == causes
    assert retracing.lost_seconds == pytest.approx(1.0 / causes)
    told = any(
        "making the optimizer that each new model trains with" in e for e in retracing.evidence
    )
    assert told == (not later)


def test_a_new_model_in_each_trial(make_run, find, judge):
    change = Change(
        "model", "python_object", "Functional object", "Functional object, a new object"
    )
    traces = [
        again(number, change, cause="new_object", function="Keras train step", place="fit.py:12")
        for number in range(2, 12)
    ]
    cause = traced(make_run, find, judge, *traces)

    assert cause.summary == "The Keras train step is rebuilt at every step: the model is a new one."
    assert not any("Call `compile()` once" in each.text for each in cause.advice)
    assert [" ".join(each.text.split()[:4]) for each in cause.advice] == [
        "If each round needs",
        "If each round needs",
    ]


def test_the_context_of_the_call(make_run, find, judge):
    cause = traced(make_run, find, judge, *(again(n, cause="context") for n in range(2, 12)))

    assert cause.summary == (
        "TensorFlow retraces `train_step` at every step with the same arguments: the device, "
        "strategy, or control-flow scope of the call differs."
    )


def test_several_functions_are_told_apart(make_run, find, judge):
    number = Change("lr", "python_number", "Python float 0.1", "Python float 0.2")
    shape = Change("x", "shape", "(3,)", "(4,)")
    traces = [again(n, number) for n in range(2, 8)]
    traces += [again(n, shape, function="evaluate", place="train.py:90") for n in range(8, 10)]
    cause = traced(make_run, find, judge, *traces)

    assert cause.evidence[0].startswith(
        "6 of 8 retraces are `train_step` (train.py:41), 0.30 s of "
    )
    assert cause.evidence[-1] == "2 more retraces of `evaluate` (train.py:90): 0.10 s."


def test_the_lookup_is_told_apart_where_it_takes_most(make_run, find, judge):
    change = Change("cfg", "python_object", "Config object", "Config object, a new object")
    traces = [
        Trace(n, "train_step", "train.py:41", 0.050, 0.005, "signature", n, 50, 0, (change,))
        for n in range(2, 12)
    ]
    cause = traced(make_run, find, judge, *traces)

    assert cause.evidence[1] == (
        "Only 50 ms of the 500 ms of tracing built graphs. The rest was function cache lookup: "
        "comparing the arguments "
        "with those of earlier graphs."
    )


def test_traces_that_cost_more_and_more(make_run, find, judge):
    traces = [
        Trace(n, "train_step", "train.py:41", 0.010 * n, 0.010 * n, "signature", n)
        for n in range(1, 21)
    ]
    cause = traced(make_run, find, judge, *traces, seconds=0.010 * np.arange(1, 21))

    assert (
        "Each trace costs more than the last: 30 ms around step 82, 180 ms around step 97."
        in cause.evidence
    )


def test_variables_of_a_function_made_anew_are_its_own_fault(make_run, find, judge):
    # The second trace that variables need belongs to the new object, and its first run as well.
    first_runs = np.zeros(SIZE)
    first_runs[50] = 0.030
    run = make_run(
        np.full(SIZE, 0.010) + first_runs,
        accounts={"first_execution:again": first_runs},
        events=[
            (50, again(7, cause="new_object")),
            (50, again(8, cause="variables")),
            (50, Execution(8, 1, 0.030)),
            (51, Execution(8, 2, 0.004)),
        ],
    )
    (cause,) = judge(run, find("first_execution:again", "one_off", first_runs)).report.causes

    assert cause.cause == "retracing"
    assert cause.evidence[0] == (
        "1 retrace of `train_step` (train.py:41) took 30 ms extra in the first execution of each "
        "new graph."
    )


def test_library_functions_made_again(make_run, find, judge):
    lost = np.zeros(SIZE)
    lost[::10] = 0.1
    run = make_run(
        np.full(SIZE, 0.010) + lost,
        accounts={"tracing:library": lost},
        events=[
            (row, Trace(row + 1, "scale", "data.py:3", 0.1, 0.1, "library"))
            for row in range(0, SIZE, 10)
        ],
    )
    (cause,) = judge(run, find("tracing:library", "periodic", lost)).report.causes

    assert cause.cause == "retracing"
    assert cause.evidence == (
        "1.00 s was lost in 10 traces of such functions.",
        "The most expensive is `scale` (data.py:3): 10 traces, every 10 steps.",
    )
    assert cause.advice[0].text.startswith("Create the dataset once")


def test_arrays_in_a_loop_are_told_by_the_functions_that_keras_makes_of_them(make_run, find, judge):
    lost = np.full(SIZE, 0.02)
    place = "keras/src/trainers/data_adapters/array_data_adapter.py:202"
    traces = [(n, Trace(n + 1, "grab_batch", place, 0.02, 0.02, "library")) for n in range(SIZE)]
    accounts = {"tracing:library": lost}
    run = make_run(np.full(SIZE, 0.010) + lost, accounts=accounts, events=traces)
    (cause,) = judge(run, find("tracing:library", "flat", lost)).report.causes

    assert cause.advice[0].text.startswith("Pass `fit` and `evaluate` a dataset")
    assert cause.advice[1].text.startswith("Call `model(x, training=False)`")


def test_iterators_over_devices_are_told_by_their_functions(make_run, find, judge):
    lost = np.zeros(SIZE)
    lost[::10] = 0.1
    place = "tensorflow/python/data/ops/multi_device_iterator_ops.py:69"
    run = make_run(
        np.full(SIZE, 0.010) + lost,
        accounts={"tracing:library": lost},
        events=[
            (row, Trace(row + 1, "_next_func", place, 0.1, 0.1, "library"))
            for row in range(0, SIZE, 10)
        ],
    )
    (cause,) = judge(run, find("tracing:library", "periodic", lost)).report.causes
    assert [each.text.partition(",")[0] for each in cause.advice] == ["Repeat inside the pipeline"]


def test_a_retrace_logged_by_hand_gives_its_reason(make_run, find, judge):
    traces = [again(n, cause="reported", reason="new tokenizer") for n in range(2, 12)]
    cause = traced(make_run, find, judge, *traces)

    assert cause.summary == (
        "`train_step` is retraced at every step, for the reason logged: new tokenizer."
    )
    assert cause.advice


def test_the_functions_inside_a_keras_step_are_no_retraces_of_their_own(make_run, find, judge):
    change = Change("model", "python_object", "compiled", "the same model, compiled again")
    rows = range(20, SIZE, 20)
    events = []
    for number, row in enumerate(rows):
        for cause, depth in (
            ("new_object", 1),
            ("new_object", 0),
            ("variables", 1),
            ("variables", 0),
        ):
            changes = (change,) if cause == "new_object" else ()
            what = Trace(
                4 * number + 1, "Keras train step", "fit.py:12", 0.010, 0.010, cause, number, 50,
                depth, changes,
            )  # fmt: skip
            events.append((row, what))
    lost = np.zeros(SIZE)
    lost[list(rows)] = 0.040
    run = make_run(0.010 + lost, accounts={"tracing:again": lost}, events=events)
    (cause,) = judge(run, find("tracing:again", "periodic", lost)).report.causes

    assert cause.evidence[0] == (
        "4 retraces of the Keras train step (fit.py:12) took 0.16 s of tracing."
    )
    table = retraces(run)
    assert (table["traces"], table["seconds"]) == (4, 0.16)
    (group,) = table["groups"]
    assert (group["count"], group["cause"], group["seconds"]) == (4, "new_object", 0.16)
