"""A retrace that is paid once is warm-up; one that goes on is retracing."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare import settled_functions as settled
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Change, Epoch, Execution, Trace

SIZE = 400
TRACE, FIRST_RUN, STEADY = 0.5, 0.24, 0.04


def shape(before, after, argument="x"):
    return Change(argument, "shape", before, after)


def run_with(make_run, changes):
    """A function that is traced at the start, and again in each of these rows."""
    period = np.full(SIZE, 0.05)
    columns = {
        name: np.zeros(SIZE) for name in ("tracing:first", "tracing:again", "first_execution:again")
    }
    events = [(0, Trace(1, "train_step", "train.py:41", 0.5, 0.4, "first", 1, 50))]
    columns["tracing:first"][0] = 0.5
    for number, (row, change) in enumerate(changes.items(), start=2):
        trace = Trace(
            number, "train_step", "train.py:41", TRACE, 0.4, "signature", number, 50, 0, (change,)
        )
        events += [(row, trace), (row, Execution(number, 1, FIRST_RUN))]
        events += [(min(row + 1, SIZE - 1), Execution(number, 2, STEADY))]
        columns["tracing:again"][row] += TRACE
        columns["first_execution:again"][row] += FIRST_RUN
    period += sum(columns.values())
    return make_run(period, accounts=columns, events=events)


def test_the_examples_hold():
    assert doctest.testmod(settled).failed == 0


@pytest.mark.parametrize("row", [1, 200, SIZE - 1])
@pytest.mark.parametrize(
    ("before", "after", "sentence"),
    [
        (
            "(1, 235, 50)",
            "(1, None, 50)",
            "`train_step` was retraced once with a relaxed shape: `x` from (1, 235, 50) to "
            "(1, None, 50).",
        ),
        (
            "(32, 9)",
            "(20, 9)",
            "`train_step` was retraced once for a smaller batch: `x` from (32, 9) to (20, 9).",
        ),
    ],
)
def test_one_such_trace_is_warm_up_wherever_it_comes(make_run, row, before, after, sentence):
    report = account_for(run_with(make_run, {row: shape(before, after)})).report
    assert report.verdict == "healthy", report.headline
    (cause,) = report.causes
    # 0.5 s for the first trace; for the other one 0.5 s and 0.2 s of a longer first run.
    assert (cause.cause, cause.lost_seconds) == ("warm_up", pytest.approx(1.2))
    assert sentence in cause.evidence


def test_each_dimension_may_be_relaxed_once(make_run):
    changes = {
        5: shape("(32, 40, 9)", "(None, 40, 9)"),
        9: shape("(None, 40, 9)", "(None, None, 9)"),
    }
    report = account_for(run_with(make_run, changes)).report
    assert [cause.cause for cause in report.causes] == ["warm_up"]


@pytest.mark.parametrize(
    "changes",
    [
        {200: shape("(32, 9)", "(32, 8)")},
        {200: shape("(20, 9)", "(32, 9)")},
        {200: Change("lr", "python_number", "Python float 0.1", "Python float 0.2")},
        {
            90: shape("(1, 235, 50)", "(1, None, 50)"),
            200: Change("lr", "python_number", "Python float 0.1", "Python float 0.2"),
        },
        {row: shape("(32, 9)", f"({row}, 9)") for row in (5, 9, 12)},
    ],
)
def test_what_may_go_on_is_retracing(make_run, changes):
    report = account_for(run_with(make_run, changes)).report
    named = {cause.cause: cause.lost_seconds for cause in report.causes}
    if len(changes) < 3:
        assert named["retracing"] == pytest.approx(0.7 * len(changes))
    else:  # few early shapes, then none: under the floor of what is over
        assert named["warm_up"] == pytest.approx(0.5)


AGAIN = Change("model", "python_object", "compiled", "the same model, compiled again")
NEW_MODEL = Change("model", "python_object", "Model object", "Model object, a new object")
EPOCH = 20


def keras_run(make_run, compiled, operations=lambda number: 80, change=AGAIN, steps=120):
    """A training in epochs, whose model was made or compiled again in these rows."""
    period = np.full(steps, 0.05)
    columns = {name: np.zeros(steps) for name in ("tracing:first", "tracing:again")}
    columns["tracing:first"][0] = columns["tracing:again"][compiled] = TRACE
    traces = [(0, Trace(1, "Keras train step", "fit.py:12", TRACE, 0.4, "first", 1, 50))]
    traces += [
        (
            row,
            Trace(
                number, "Keras train step", "fit.py:12", TRACE, 0.4, "new_object", number,
                operations(number), 0, (change,),
            ),
        )
        for number, row in enumerate(compiled, start=2)
    ]  # fmt: skip
    epochs = [(row, Epoch(row // EPOCH)) for row in range(0, steps, EPOCH)]
    events = sorted((*traces, *epochs), key=lambda event: event[0])
    return make_run(period + sum(columns.values()), accounts=columns, events=events)


@pytest.mark.parametrize(
    ("compiled", "operations"),
    [
        ([60], lambda number: 80),
        ([40, 80], lambda number: 80),
        ([20, 40, 60, 80, 100], lambda number: 80 + 9 * number),
    ],
    ids=["fine-tuned once", "stages of two epochs", "one more layer in each epoch"],
)
def test_a_model_that_is_compiled_for_a_new_stage_is_warm_up(make_run, compiled, operations):
    report = account_for(keras_run(make_run, compiled, operations)).report
    named = {cause.cause: cause for cause in report.causes}
    assert set(named) == {"warm_up"}, report.headline
    assert named["warm_up"].lost_seconds == pytest.approx(TRACE * (1 + len(compiled)))
    times = "once" if len(compiled) == 1 else f"{len(compiled)} times"
    expected = f"The Keras train step was rebuilt {times}, because `compile()` ran again."
    assert expected in named["warm_up"].evidence


@pytest.mark.parametrize(
    ("compiled", "operations", "change"),
    [
        ([20, 40, 60, 80, 100], lambda number: 80, AGAIN),
        (list(range(1, 120, 7)), lambda number: 80 + number, AGAIN),
        ([40, 80], lambda number: 80, NEW_MODEL),
    ],
    ids=["in every epoch", "in every few steps", "a model made again"],
)
def test_a_model_that_is_compiled_on_and_on_is_retracing(make_run, compiled, operations, change):
    report = account_for(keras_run(make_run, compiled, operations, change)).report
    named = {cause.cause: cause.lost_seconds for cause in report.causes}
    assert named["retracing"] == pytest.approx(TRACE * len(compiled))


def test_a_new_model_for_each_of_three_long_folds_is_warm_up(make_run):
    """Four epochs and more for each: no loop over trials."""
    run = keras_run(make_run, [80, 160], change=NEW_MODEL, steps=240)
    report = account_for(run).report
    (cause,) = report.causes
    assert cause.cause == "warm_up"
    assert "The Keras train step was rebuilt 2 times, for a new model each time." in cause.evidence


@pytest.mark.parametrize(
    ("models", "epochs", "settled_"),
    [(10, 40, True), (9, 27, False), (12, 48, False)],
    ids=["ten folds", "short ones", "without end"],
)
def test_models_in_turn_are_stages_where_each_trains_for_long(models, epochs, settled_):
    later = [
        Trace(n, "Keras train step", "fit.py:12", TRACE, 0.4, "new_object", n, 50, 0, (NEW_MODEL,))
        for n in range(2, models + 1)
    ]
    assert settled.has_settled(later, epochs) == settled_


def test_pictures_that_get_larger_are_warm_up_after_long_stages(make_run):
    sides = [
        (80, "(32, 16, 16, 3)", "(32, 24, 24, 3)"),
        (160, "(32, 24, 24, 3)", "(32, 32, 32, 3)"),
    ]
    later = [
        Trace(2 + n, "step", "a.py:1", TRACE, 0.4, "signature", 2, 50, 0, (shape(old, new),))
        for n, (_, old, new) in enumerate(sides)
    ]
    assert settled.has_settled(later, epochs=12)
    assert not settled.has_settled(later, epochs=11)
    assert not settled.has_settled([later[0]], epochs=0)
    shrinks = Change("x", "shape", "(32, 24, 16)", "(32, 16, 24)")
    assert not settled.has_settled(
        [Trace(2, "step", "a.py:1", TRACE, 0.4, "signature", 2, 50, 0, (shrinks,))], epochs=99
    )


@pytest.mark.parametrize(
    ("rows", "has_stages"),
    [((100, 200, 300), True), ((100, 110, 300), False), (range(60, 400, 50), False)],
    ids=["few, and long", "one is short", "many"],
)
def test_shapes_that_a_good_part_of_the_steps_have_are_stages(make_run, rows, has_stages):
    """A curriculum with longer pieces in smaller batches, each trained in a loop of its own."""
    sizes = [(48 - 4 * number, 25 + 24 * number) for number in range(len(rows) + 1)]
    steps = zip(rows, sizes, sizes[1:], strict=False)
    changes = {row: shape(str(before), str(after)) for row, before, after in steps}
    report = account_for(run_with(make_run, changes)).report
    named = [cause.cause for cause in report.causes]
    assert ("retracing" in named) is not has_stages
