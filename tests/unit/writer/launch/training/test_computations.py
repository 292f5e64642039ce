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
_BESIDE_VARIABLES = 64


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
    assert not watched.calls.others


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
def test_without_gradients_nothing_is_a_step_where_there_is_a_variable_or_in_another_thread(
    watch: Callable[..., Watched],
) -> None:
    @tf.function
    def energy(position):
        return tf.reduce_sum(position**2)

    def sample() -> None:
        for _ in range(10 * _UNCOUNTED):
            energy(tf.ones([3]))

    watched = watch()
    thread = threading.Thread(target=sample)
    thread.start()
    thread.join()
    tf.Variable(1.0)
    sample()
    assert watched.end() == 0
    assert [each.calls for each in watched.calls.others.values()] == [20 * _UNCOUNTED]


@pytest.mark.tensorflow
@pytest.mark.parametrize("traced", [True, False])
def test_a_solver_that_keeps_its_state_in_tensors_makes_steps_though_there_is_a_variable(
    watch: Callable[..., Watched], traced: bool
) -> None:
    """Such as a quasi-Newton method, which assigns its result when it is done."""

    def slope(place):
        with tf.GradientTape() as tape:
            tape.watch(place)
            height = tf.reduce_sum(place**2)
        return tape.gradient(height, place)

    compute = tf.function(slope) if traced else slope
    watched = watch()
    weight = tf.Variable([4.0])
    place = tf.convert_to_tensor(weight)
    for _ in range(_BESIDE_VARIABLES + 10):
        place = place - 0.01 * compute(place)
    weight.assign(place)
    assert watched.end() == 10
    assert len({tuple(rule) for rule in watched.rules}) == 1


@pytest.mark.tensorflow
def test_gradients_that_are_looked_at_after_a_training_are_no_steps(
    watch: Callable[..., Watched],
) -> None:
    watched = watch()
    weight = tf.Variable([4.0])

    def slope():
        with tf.GradientTape() as tape:
            height = tf.reduce_sum(weight**2)
        return tape.gradient(height, weight)

    for _ in range(7):
        weight.assign_sub(0.01 * slope())
    for _ in range(2 * _BESIDE_VARIABLES):
        slope()
    assert 0 < watched.end() <= 7


@pytest.mark.tensorflow
def test_nor_are_those_after_steps_that_something_else_has_made(
    watch: Callable[..., Watched],
) -> None:
    """Such as `fit`, whose batches are told by a callback: none of its calls is seen here."""
    watched = watch()
    weight = tf.Variable([4.0])
    watched.recorder.begin(0)
    watched.recorder.end()
    for _ in range(2 * _BESIDE_VARIABLES):
        with tf.GradientTape() as tape:
            height = tf.reduce_sum(weight**2)
        tape.gradient(height, weight)
    assert watched.end() == 1


def test_where_training_may_begin_a_call_without_gradients_is_never_a_step() -> None:
    computations = Computations()
    assert [computations.is_step("pi") for _ in range(9)].count(True) == 1
    computations.expect_training()
    found = [computations.is_step("pi", lambda: False) for _ in range(9 * _BESIDE_VARIABLES)]
    assert not any(found)
    assert not computations.found
