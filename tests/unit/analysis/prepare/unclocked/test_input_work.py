"""What steps take longer while the pipeline computes, by those at the end of each epoch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.input_work import with_input_work
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import NEW_SHAPE
from tb_slowdown_plugin.records.types import Fact

PASS, PASSES = 40, 10
SIZE = PASS * PASSES
EPOCHS = np.arange(0, SIZE, PASS)
ENDS = np.arange(SIZE) % PASS >= PASS - 2


def steps(free=0.010, noise=0.02):
    random = np.random.default_rng(7)
    return np.where(ENDS, free, 0.020) * random.normal(1.0, noise, SIZE)


def taken(make_run, period, stages="TensorSlice Map Batch", epochs=EPOCHS, full=0.0, **columns):
    pipeline = Fact(names.INPUT_PIPELINE, stages, {"full_batches": full})
    run = make_run(period, events=[(0, pipeline)])
    run = dataclasses.replace(run, steps=dataclasses.replace(run.steps, **columns))
    return with_input_work(run, {}, epochs).get(names.INPUT_WORK)


def test_steps_lose_what_those_at_the_end_of_epochs_do_not_take(make_run):
    work = taken(make_run, steps())
    whole = EPOCHS[-1]  # nobody knows that the last pass came to its end
    np.testing.assert_allclose(work[:whole].mean(), 0.010 * 38 / 40, rtol=0.02)
    assert not work[ENDS].any()
    assert not work[whole:].any()


@pytest.mark.parametrize("full", [1.0, 0.0])
def test_the_last_step_counts_where_its_batch_is_a_full_one(make_run, full):
    period = np.where(np.arange(SIZE) % PASS == PASS - 1, 0.010, 0.020)
    work = taken(make_run, period, full=full)
    assert (work is not None) == bool(full)


def test_a_stall_of_another_reason_is_none_of_it(make_run):
    period = steps()
    period[100] = 1.0
    assert taken(make_run, period)[100] == pytest.approx(0.010, rel=0.05)


@pytest.mark.parametrize(
    ("period", "more"),
    [
        (steps(free=0.019), {}),
        (steps(free=0.015, noise=0.5), {}),
        (steps(), {"epochs": EPOCHS[:3]}),
        (steps(), {"stages": "TensorSlice PaddedBatch"}),
        (steps(), {"stages": "Generator"}),
        (steps(), {"argument_size": np.where(ENDS, 10, 20)}),
        (steps(), {"items": np.where(ENDS, 10.0, 20.0)}),
        (steps(), {"ran": np.where(ENDS, 2, 6)}),
    ],
    ids=[
        "hardly shorter",
        "shorter by chance",
        "few epochs",
        "padded batches",
        "batches of any size",
        "smaller arguments",
        "fewer items",
        "other functions",
    ],
)
def test_what_is_not_sure_gets_no_account(make_run, period, more):
    assert taken(make_run, period, **more) is None


def test_a_pipeline_that_makes_more_in_each_epoch_takes_more(make_run):
    more = np.repeat(np.linspace(0.005, 0.020, PASSES), PASS)
    work = taken(make_run, np.where(ENDS, 0.010, 0.010 + more))
    whole = EPOCHS[-1]
    np.testing.assert_allclose(work[:whole], np.where(ENDS, 0.0, more)[:whole], atol=1e-9)


def in_two_models(make_run, period, *new_shapes, ran=(5, 5)):
    """A run of one model in its first half and another one in the second, both with generators."""
    events = [(0, Fact(names.INPUT_PIPELINE, "Generator"))]
    events += [(row, Fact(NEW_SHAPE, f"({row},)")) for row in new_shapes]
    rows, counts = sorted(new_shapes), np.arange(1.0, len(new_shapes) + 1)
    run = make_run(period, events=events, signals={"batch_shapes": counts}, signal_rows=rows)
    of_step = np.where(np.arange(SIZE) < SIZE // 2, *ran)
    return dataclasses.replace(run, steps=dataclasses.replace(run.steps, ran=of_step))


@pytest.mark.parametrize(
    ("new_shapes", "is_seen"),
    [((0,), True), ((0, PASS), True), ((0, PASS - 1), False), ((0, 0), False)],
    ids=["one", "and validation's", "and a smaller last one", "and one that was made early"],
)
def test_where_all_batches_had_one_shape_the_last_step_of_an_epoch_counts(
    make_run, new_shapes, is_seen
):
    period = np.where(np.arange(SIZE) % PASS == PASS - 1, 0.010, 0.020)
    run = in_two_models(make_run, period, *new_shapes)
    assert (names.INPUT_WORK in with_input_work(run, {}, EPOCHS)) == is_seen


@pytest.mark.parametrize(("new_shape", "is_seen"), [(SIZE // 2, True), (SIZE // 2 + PASS, False)])
def test_a_smaller_last_batch_of_a_later_model_is_no_work_of_its_pipeline(
    make_run, new_shape, is_seen
):
    # Where its full batches have the shape of those of the model before, the new ones are the last.
    second = np.arange(SIZE) >= SIZE // 2
    short = second & (np.arange(SIZE) % PASS == PASS - 1)
    run = in_two_models(make_run, np.where(short, 0.010, 0.020), 0, new_shape, ran=(3, 5))
    assert (names.INPUT_WORK in with_input_work(run, {}, EPOCHS)) == is_seen


def test_a_later_model_may_take_batches_of_the_shape_that_is_known(make_run):
    period = np.where(np.arange(SIZE) < SIZE // 2, 0.030, np.where(ENDS, 0.010, 0.020))
    run = in_two_models(make_run, period, 0, PASS, ran=(3, 5))
    assert with_input_work(run, {}, EPOCHS)[names.INPUT_WORK][SIZE // 2] == pytest.approx(0.010)


def test_each_model_is_compared_with_itself_and_its_own_batches(make_run):
    first = np.arange(SIZE) < SIZE // 2
    period = np.where(first, 0.030, np.where(ENDS, 0.010, 0.020))
    half = SIZE // 2
    run = in_two_models(make_run, period, 0, PASS, half, half + PASS, SIZE, ran=(3, 5))
    work = with_input_work(run, {}, EPOCHS)[names.INPUT_WORK]
    assert not work[first].any()
    second = slice(half, EPOCHS[-1])
    np.testing.assert_allclose(work[second], np.where(ENDS, 0.0, 0.010)[second], atol=1e-9)
