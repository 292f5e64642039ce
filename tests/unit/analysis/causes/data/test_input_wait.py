"""What may be to blame for a wait for input, by the slow stage and the others that there are."""

import pytest

from tb_slowdown_plugin.analysis.causes.common.programs.pipeline import Pipeline
from tb_slowdown_plugin.analysis.causes.common.programs.program import SHUFFLES, Program
from tb_slowdown_plugin.analysis.causes.data import input_wait
from tb_slowdown_plugin.analysis.causes.data.input_wait import RecordedInputWait

SERIAL = Program(Pipeline(("TensorSlice", "Map", "Batch")))
ARRAYS = Program(arrays=True)


@pytest.mark.parametrize(
    ("wait", "is_serial"),
    [
        (RecordedInputWait(SERIAL, stage="Map#2"), True),
        (RecordedInputWait(SERIAL, stage="Filter#2"), True),
        (RecordedInputWait(SERIAL), True),
        (RecordedInputWait(), True),
        (RecordedInputWait(SERIAL, stage="Batch#3"), False),
        (RecordedInputWait(SERIAL, stage="Map#2", beside=True), False),
        (RecordedInputWait(SERIAL, stage="Map#2", at_epochs=True), False),
        (RecordedInputWait(Program(Pipeline(("TensorSlice", "ParallelMap", "Batch")))), False),
        (RecordedInputWait(ARRAYS), False),
    ],
)
def test_a_map_is_serial_where_it_may_be_the_slow_stage_of_each_step(wait, is_serial):
    assert input_wait.map_is_serial(wait) == is_serial


@pytest.mark.parametrize(
    ("wait", "is_filled"),
    [
        (RecordedInputWait(SHUFFLES, at_epochs=True), True),
        (RecordedInputWait(SHUFFLES, stage="Shuffle#2"), True),
        (RecordedInputWait(SHUFFLES), False),
        (RecordedInputWait(SHUFFLES, stage="Shuffle#2", at_ends=True), False),
        (RecordedInputWait(ARRAYS, at_epochs=True), False),
    ],
)
def test_a_shuffle_buffer_is_filled_at_the_start_of_an_epoch(wait, is_filled):
    assert input_wait.buffer_is_filled(wait) == is_filled


def test_the_slow_stage_is_known_without_its_place():
    assert RecordedInputWait(stage="ParallelMap#3").kind == "ParallelMap"
    assert RecordedInputWait().kind == ""


def test_who_begins_each_epoch_anew_is_the_loop_or_fit():
    fitted = RecordedInputWait(Program(in_fit=True), at_epochs=True)
    looped = RecordedInputWait(at_epochs=True)
    assert input_wait.in_fit(fitted)
    assert not input_wait.in_a_loop(fitted)
    assert input_wait.in_a_loop(looped)
    assert not input_wait.in_fit(looped)
