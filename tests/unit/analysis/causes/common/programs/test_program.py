"""What a record says of the program: its functions, and what is on already."""

from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.programs.program import Board, Program
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.records.types import CollectorState, Epoch, Fact, Trace


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


def test_a_board_is_quiet_where_all_of_them_are():
    quiet = {"histograms": 0.0, "batches": 0.0, "profiles": 0.0}
    facts = [Fact("tensorboard_callback", "", quiet)]
    assert Board.of(facts).is_quiet
    loud = Fact("tensorboard_callback", "", {**quiet, "histograms": 1.0})
    assert not Board.of([*facts, loud]).is_quiet
    assert not Board.of([]).is_quiet


def test_a_loop_that_asks_no_dataset_makes_its_batches(make_run):
    def made(states=("running", "running"), accounts=None, events=()):
        collectors = tuple(map(CollectorState, ("input_wait", "input_stages"), states))
        run = make_run(np.full(50, 0.1), accounts=accounts or {}, events=list(events))
        run = replace(run, environment=replace(run.environment, collectors=collectors))
        return Program.of(run).makes_batches

    assert made()
    assert not made(states=("running", "unavailable"))
    assert not made(accounts={names.INPUT_WAIT: np.full(50, 0.01)})
    assert not made(accounts={"callback:Mine": np.full(50, 0.01)})
    pipeline = (0, Fact(names.INPUT_PIPELINE, "TensorSlice Batch"))
    assert not made(events=[pipeline])
    assert made(events=[pipeline, (0, Fact("py_dataset", "", {"workers": 1.0}))])
