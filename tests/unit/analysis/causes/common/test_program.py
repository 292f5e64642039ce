"""What a record says of the program: its pipeline, its functions, what is on already."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.program import Board, Pipeline, Program
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import Epoch, Fact, Trace


def test_a_pipeline_has_its_stages_in_order():
    pipeline = Pipeline(("TFRecord", "Map", "Shuffle", "ParallelBatch"))
    assert pipeline.reads_files
    assert pipeline.has("Map")
    assert not pipeline.has("Cache")
    assert pipeline.comes_before("Map", "Batch")
    assert not pipeline.comes_before("Batch", "Map")


def test_a_run_without_facts_leaves_all_unknown(make_run):
    program = Program.of(make_run(np.full(50, 0.1)))
    assert (program.pipeline, program.steps, program.saves) == (None, 50, False)
    assert not program.full_batches
    assert program.steps_per_execution == 1


def test_what_is_recorded_is_known(make_run):
    events = [
        (0, Fact(names.INPUT_PIPELINE, "TensorSlice Map Batch", {"full_batches": 1.0})),
        (0, Fact(names.FUNCTION_OPTIONS, "train_step (train.py:9)", {"input_signature": 1.0})),
        (0, Fact("checkpoint", "CheckpointManager", {"keeps": 3.0})),
        (0, Fact("keras_fit", "", {"steps_per_execution": 16.0})),
        (0, Epoch(0)), (25, Epoch(1)),
    ]  # fmt: skip
    accounts = {"checkpoint": np.full(50, 0.01), "callback:Mine": np.full(50, 0.01)}
    program = Program.of(make_run(np.full(50, 0.1), events=events, accounts=accounts))
    assert program.pipeline is not None
    assert program.pipeline.stages == ("TensorSlice", "Map", "Batch")
    assert program.full_batches
    assert (program.saves, program.keeps_few, program.in_fit, program.epochs) == (
        True, True, True, 2,
    )  # fmt: skip
    assert program.savers == {"CheckpointManager"}
    assert program.steps_per_execution == 16
    trace = Trace(1, "train_step", "train.py:9", 0.1, 0.1, "first", 1)
    assert program.declares(trace)
    assert not program.generalizes(trace)


def test_an_epoch_has_the_steps_that_keras_plans_or_those_between_its_beginnings(make_run):
    begins = [(0, Epoch(0)), (20, Epoch(1)), (40, Epoch(2))]
    assert Program.of(make_run(np.full(50, 0.1), events=begins)).epoch_steps == 20
    planned = (0, Fact("planned_steps", "", {"epochs": 3.0, "steps": 7.0}))
    program = Program.of(make_run(np.full(50, 0.1), events=[planned, *begins]))
    assert program.epoch_steps == 7
    assert Program.of(make_run(np.full(50, 0.1))).epoch_steps == 0


@pytest.mark.parametrize(
    ("stages", "numbers", "slow", "fits"),
    [
        ("TFRecord Map Batch", {}, "", True),
        ("TFRecord Map Batch", {"random": 1.0}, "", True),
        ("TensorSlice Map Batch", {"random": 1.0}, "", False),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "Map#4", True),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "Map#3", True),
        ("TensorSlice Map Map Batch", {"random": 2.0}, "MapAndBatch#2", False),
        ("TensorSlice Map Map ParallelBatch", {"random": 2.0}, "Map#3", False),
        ("TensorSlice Repeat Map Batch", {"endless": 1.0}, "", False),
        ("TensorSlice Map Repeat Batch", {"endless": 2.0}, "", True),
        ("TensorSlice Shuffle Batch Prefetch", {}, "", False),
        ("Tensor FlatMap Batch", {"generator": 1.0}, "", False),
    ],
)
def test_a_cache_fits_work_that_gives_the_same_elements_in_each_epoch(stages, numbers, slow, fits):
    assert Pipeline(tuple(stages.split()), numbers).can_cache(slow) is fits


def test_a_prefetch_counts_where_nothing_works_behind_it():
    assert Pipeline(("Range", "Map", "Batch", "Prefetch", "Take")).is_prefetched
    assert not Pipeline(("Range", "Prefetch", "Map", "Batch")).is_prefetched


def test_a_board_is_quiet_where_all_of_them_are():
    quiet = {"histograms": 0.0, "batches": 0.0, "profiles": 0.0}
    facts = [Fact("tensorboard_callback", "", quiet)]
    assert Board.of(facts).is_quiet
    loud = Fact("tensorboard_callback", "", {**quiet, "histograms": 1.0})
    assert not Board.of([*facts, loud]).is_quiet
    assert not Board.of([]).is_quiet
