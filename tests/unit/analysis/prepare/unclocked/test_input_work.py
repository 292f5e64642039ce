"""What steps take longer while the pipeline computes, by those at the end of each epoch."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.input_work import with_input_work
from tb_slowdown_plugin.catalog import names
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
