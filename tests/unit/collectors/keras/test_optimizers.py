"""Optimizers: their variables, and those that are made again while training runs."""

from __future__ import annotations

import gc
import time

import pytest

from tb_slowdown_plugin.collectors.keras.optimizers import Optimizers
from tb_slowdown_plugin.records.types import Fact

pytestmark = [
    pytest.mark.tensorflow,
    # Keras, with NumPy 2.
    pytest.mark.filterwarnings("ignore:__array__ implementation"),
]
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


@pytest.fixture
def collector(recording):
    made = Optimizers()
    made.start(recording.context)
    yield made
    made.stop()
    assert recording.failures == []


def make(variables):
    optimizer = keras.optimizers.Adam()
    optimizer.build(variables)
    return optimizer


def test_variables_and_bytes_are_those_of_all_that_are_alive(collector) -> None:
    assert collector.read() == {}
    optimizer = make([tf.Variable(tf.zeros([10, 3]))])
    read = collector.read()
    assert read["optimizer_variables"] == len(optimizer.variables)
    assert read["optimizer_bytes"] >= 2 * 30 * 4


def test_the_first_is_free_and_one_made_again_at_the_same_place_is_booked(
    recording, collector
) -> None:
    began = time.perf_counter()
    kept = [make([tf.Variable(tf.zeros([4]))]) for _ in range(3)]
    passed = time.perf_counter() - began
    booked = recording.stopwatch.take()
    assert booked["optimizer_creation"] > 0
    told = [event for event in recording.events if isinstance(event, Fact)]
    assert len(kept) == 3
    created = [fact for fact in told if fact.name == "optimizer_created"]
    assert {fact.subject for fact in created} == {"Adam"}
    assert len(created) == 2 * 2  # made and built, both of the second and the third
    # Whatever this thread waits for a core in between is in one and not in the other.
    seconds = sum(fact.numbers["seconds"] for fact in created)
    assert booked["optimizer_creation"] / 1e9 <= seconds < passed


def test_two_places_are_two_optimizers(recording, collector) -> None:
    first = keras.optimizers.SGD()
    second = keras.optimizers.SGD()
    assert "optimizer_creation" not in recording.stopwatch.take()
    assert first is not second


def test_keras_is_as_before_when_it_stops(recording) -> None:
    made = keras.optimizers.Optimizer.__init__
    compiled = keras.Model.compile
    collector = Optimizers()
    collector.start(recording.context)
    collector.stop()
    assert keras.optimizers.Optimizer.__init__ is made
    assert keras.Model.compile is compiled


class Unhashable(keras.optimizers.SGD):
    """It compares by value, and its variables are somebody else's business."""

    __hash__ = None

    def __eq__(self, other):
        return True

    @property
    def variables(self):
        raise RuntimeError("asked by another thread")


def test_an_optimizer_of_the_program_s_may_be_of_any_make(collector) -> None:
    optimizers = [Unhashable(0.1), Unhashable(0.2)]
    for optimizer in optimizers:
        optimizer.build([tf.Variable(tf.zeros([10]))])
    read = collector.read()
    assert read["optimizer_variables"] == 2 * 2  # a rate and a count of each
    del optimizer, optimizers
    gc.collect()
    assert collector.read() == {}
