"""What only computes makes steps where there is nothing to train."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from tb_slowdown_plugin.writer.launch.training.computations import Computations

tf = pytest.importorskip("tensorflow")

from tests.unit.writer.launch.training.test_training_calls import Watched, watch  # noqa: E402

__all__ = ["watch"]

_UNCOUNTED = 8


def test_each_kind_of_call_counts_by_itself() -> None:
    computations = Computations()
    calls = [what for _ in range(10) for what in ("energy", "plot")]
    assert [computations.is_step(what) for what in calls].count(True) == 4


@pytest.mark.tensorflow
def test_a_sampler_of_plain_tensors_makes_a_step_of_each_call(
    watch: Callable[..., Watched],
) -> None:
    @tf.function
    def energy(position):
        return tf.reduce_sum(position**2)

    watched = watch()
    position = tf.ones([3])
    for _ in range(20):
        position = position - 0.1 * energy(position)
    assert watched.end() == 20 - _UNCOUNTED
    assert watched.rules == [["energy"]]
    assert not watched.calls.seen


@pytest.mark.tensorflow
def test_a_descent_on_plain_tensors_makes_a_step_of_each_gradient(
    watch: Callable[..., Watched],
) -> None:
    watched = watch()
    place = tf.constant(4.0)
    for _ in range(12):
        with tf.GradientTape() as tape:
            tape.watch(place)
            height = place**2
        place = place - 0.1 * tape.gradient(height, place)
    assert watched.end() == 12 - _UNCOUNTED
    assert watched.rules == [["GradientTape.gradient"]]


@pytest.mark.tensorflow
def test_what_prepares_data_is_another_kind_than_the_training_after_it(
    watch: Callable[..., Watched],
) -> None:
    @tf.function
    def prepare(x):
        return x * 2.0

    @tf.function
    def train_step(weight, x):
        weight.assign_sub(x)

    watched = watch()
    for _ in range(_UNCOUNTED + 5):
        prepare(tf.constant(1.0))
    weight = tf.Variable(1.0)
    for _ in range(7):
        prepare(tf.constant(1.0))
        train_step(weight, tf.constant(0.1))
    assert watched.end() == 5 + 7
    assert [*dict.fromkeys(map(tuple, watched.rules))] == [("prepare",), ("train_step",)]


@pytest.mark.tensorflow
def test_nothing_that_computes_is_a_step_where_there_is_a_variable_or_in_another_thread(
    watch: Callable[..., Watched],
) -> None:
    @tf.function
    def energy(position):
        return tf.reduce_sum(position**2)

    def sample() -> None:
        for _ in range(2 * _UNCOUNTED):
            energy(tf.ones([3]))

    watched = watch()
    thread = threading.Thread(target=sample)
    thread.start()
    thread.join()
    tf.Variable(1.0)
    sample()
    assert watched.end() == 0
    assert list(watched.calls.seen.values()) == [4 * _UNCOUNTED]
