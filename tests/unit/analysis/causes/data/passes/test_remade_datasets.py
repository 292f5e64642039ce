"""Datasets and iterators that are made anew: what is told, and what is advised first."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, at

from tb_slowdown_plugin.records.types import Epoch, Fact, Trace


def stage(name, seconds, share=0.93):
    return Fact("input_stage", name, {"seconds_per_element": seconds, "share": share})


def test_a_dataset_made_anew_is_told_to_be_made_once(cause_of):
    rows = np.arange(20, SIZE, 20)
    wait = at(rows, 0.5)
    trace = Trace(1, "load", "data.py:8", 0.01, 0.01, "library")
    cause = cause_of("periodic", wait, events=[(int(row), trace) for row in rows])
    assert cause.summary == (
        "A dataset is re-created every 20 steps, and the step waits while its functions are "
        "retraced and its stages restart."
    )
    assert cause.advice[0].text.startswith("Create the dataset once")
    assert cause.evidence[0] == (
        "Input wait is 500 ms on average in the 29 steps in which it happens."
    )
    cause = cause_of("periodic", wait)
    assert cause.advice[0].text.startswith("Run the slow stage")


@pytest.mark.parametrize("shuffles", [False, True])
def test_a_dataset_made_anew_for_each_epoch_has_no_buffer_to_blame(cause_of, shuffles):
    rows = np.arange(0, SIZE, 100)
    wait = at(rows, 1.2)
    events = [(int(row), Trace(1, "load", "data.py:8", 0.01, 0.01, "library")) for row in rows]
    events += [(int(row), Epoch(number)) for number, row in enumerate(rows)]
    events += [(1, stage("Shuffle#3" if shuffles else "Map#2", 0.01))]
    cause = cause_of("epoch_boundary", wait, events=events)
    assert cause.summary == (
        "Each epoch starts with an input wait: the dataset is re-created, its functions are "
        "retraced, and its stages restart."
    )
    assert cause.advice[0].text.startswith("Create the dataset once")
    assert any("shuffle buffer" in each.text for each in cause.advice) is shuffles


@pytest.mark.parametrize(
    ("distributed_again", "made", "advice"),
    [
        (
            False,
            "an iterator over the devices",
            "Repeat inside the pipeline, and create one iterat",
        ),
        (True, "the dataset", "Distribute the dataset once, before the loop over epochs"),
    ],
)
def test_a_loop_over_a_strategys_devices_gets_no_advice_for_fit(
    cause_of, distributed_again, made, advice
):
    rows = np.arange(0, SIZE, 100)
    place = "tensorflow/python/data/ops/multi_device_iterator_ops.py:50"
    traced = [(row, "_init_func", place) for row in rows.tolist()]
    if distributed_again:
        traced += [(row, "normalize", "tensorflow/data/ops/dataset_ops.py:4942") for row in rows]
    events = [
        (int(row), Trace(number, name, at_place, 0.01, 0.01, "library"))
        for number, (row, name, at_place) in enumerate(sorted(traced), start=1)
    ]
    events += [(int(row), Epoch(number)) for number, row in enumerate(rows)]
    cause = cause_of("epoch_boundary", at(rows, 1.2), events=events)
    assert f"{made} is re-created, its functions are retraced" in cause.summary
    assert cause.advice[0].text.startswith(advice)
    assert not any("`fit`" in each.text for each in cause.advice)


def test_a_buffer_that_is_filled_anew_over_a_strategys_devices_comes_first(cause_of):
    rows = np.arange(0, SIZE, 100)
    place = "tensorflow/python/data/ops/multi_device_iterator_ops.py:50"
    stages = Fact(
        "input_pipeline",
        "TensorSlice Shuffle Batch AutoShard",
        {"shuffle_buffer": 5_000.0, "over_devices": 1.0},
    )
    events = [(0, stages)]
    events += [(int(row), Trace(1, "_init_func", place, 0.01, 0.01, "library")) for row in rows]
    events += [(int(row), Epoch(number)) for number, row in enumerate(rows)]
    cause = cause_of("epoch_boundary", at(rows, 1.2), events=events)
    told = [each.text.split(":")[0] for each in cause.advice]
    assert told[0].startswith("Make the shuffle buffer smaller")
    assert told[-1].startswith("Repeat inside the pipeline, and create one iterator")
    assert any("hands each batch to its devices" in each for each in cause.evidence)


def test_a_dataset_made_anew_in_each_step_is_no_slow_stage(cause_of):
    wait = np.full(SIZE, 0.03)
    place = "keras/src/trainers/data_adapters/array_data_adapter.py:202"
    events = [(n, Trace(n + 1, "grab_batch", place, 0.01, 0.01, "library")) for n in range(SIZE)]
    cause = cause_of("flat", wait, events=events)
    assert cause.summary == (
        "The program or `predict` re-creates a dataset in the step, which waits for it: 75.0% "
        "of the run."
    )
    assert cause.advice[0].text.startswith("Pass `fit` and `evaluate` a dataset")
    assert cause.advice[1].text.startswith("Call `model(x, training=False)`")
