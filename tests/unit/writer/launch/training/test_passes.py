"""Passes of a Python loop over a dataset are epochs, and its batches give the items of a step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.records.types import Epoch
from tb_slowdown_plugin.writer.launch.training.passes import Passes
from tb_slowdown_plugin.writer.steps.recorder import Recorder

pytestmark = pytest.mark.tensorflow

DATA = tf.data.Dataset.from_tensor_slices(tf.zeros((16, 2))).batch(4)


def fail(error: Exception) -> None:
    raise error


@pytest.fixture
def watched() -> Iterator[Callable[..., tuple[Recorder, Passes]]]:
    """Makes a recorder whose passes are seen."""
    made: list[Passes] = []

    def make(step: Callable[[bool], None] | None = None) -> tuple[Recorder, Passes]:
        recorder = Recorder()
        made.append(Passes(recorder, step, fail))
        made[-1].install()
        return recorder, made[-1]

    yield make
    for passes in made:
        passes.remove()


def epochs(recorder: Recorder) -> list[tuple[int, int]]:
    return [
        (event.row, event.what.number) for event in recorder.events if isinstance(event.what, Epoch)
    ]


def step(recorder: Recorder) -> None:
    with recorder.prepare(None, None, "train"):
        pass


def test_a_pass_with_two_steps_is_an_epoch(watched: Callable[..., tuple[Recorder, Passes]]) -> None:
    recorder, _ = watched()
    for _ in range(3):
        for _batch in DATA:
            step(recorder)
    assert epochs(recorder) == [(0, 0), (4, 1), (8, 2)]
    assert recorder.batch_items == 4


def test_a_look_at_the_first_batch_is_none(
    watched: Callable[..., tuple[Recorder, Passes]],
) -> None:
    recorder, passes = watched()
    next(iter(DATA))
    looked = passes.first_wait
    for _batch in DATA:
        pass
    assert looked is not None
    assert passes.first_wait is not None
    assert passes.first_wait.at_ns > looked.at_ns  # the newest pass is that of the training
    assert epochs(recorder) == []


def test_a_batch_can_be_a_step(watched: Callable[..., tuple[Recorder, Passes]]) -> None:
    told: list[bool | None] = []
    watched(told.append)
    told.extend(None for _batch in DATA.take(2))  # the program's own work
    assert told == [False, True, None, False, True, None, False]


def test_without_hooks_nothing_is_told(watched: Callable[..., tuple[Recorder, Passes]]) -> None:
    told: list[bool] = []
    _, passes = watched(told.append)
    passes.remove()
    list(DATA)
    assert told == []
