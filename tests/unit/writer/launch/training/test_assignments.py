"""Updates by hand make steps where nothing else trains."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tb_slowdown_plugin.writer.launch.training.assignments import Assignments

tf = pytest.importorskip("tensorflow")

from tests.unit.writer.launch.training.test_training_calls import Watched, watch  # noqa: E402

__all__ = ["watch"]


def test_a_turn_ends_where_a_line_assigns_to_a_variable_again() -> None:
    assignments = Assignments()
    momentum = [(4, "v"), (5, "w"), (6, "w")]  # w += v, and then clipped
    begins = [
        assignments.begins_step(line, variable, is_increment=True)
        for _ in range(3)
        for line, variable in momentum
    ]
    assert begins == [False] * 3 + [True, False, False] * 2


@pytest.mark.tensorflow
def test_a_loop_that_updates_by_hand_makes_a_step_of_each_update(
    watch: Callable[..., Watched],
) -> None:
    kernel, bias = tf.Variable(5.0), tf.Variable(0.0)
    watched = watch()
    for _ in range(6):
        with tf.GradientTape() as tape:
            loss = (kernel * 3.0 + bias - 2.0) ** 2
        slopes = tape.gradient(loss, [kernel, bias])
        kernel.assign_sub(0.1 * slopes[0])
        bias.assign_sub(0.1 * slopes[1])
    assert watched.end() == 5
    assert watched.rules == [["assign_sub"]]


@pytest.mark.tensorflow
def test_all_variables_of_one_line_are_one_step(watch: Callable[..., Watched]) -> None:
    weights = [tf.Variable(1.0) for _ in range(7)]
    watched = watch()
    for _ in range(5):
        for weight in weights:
            weight.assign_add(0.1)
    assert watched.end() == 4


@pytest.mark.tensorflow
def test_candidates_of_an_evolution_strategy_are_steps(watch: Callable[..., Watched]) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(2)])
    model.build((None, 3))
    watched = watch()
    for _ in range(30):
        model.set_weights(model.get_weights())
    assert watched.end() == 22
    assert watched.rules == [["set_weights"]]


@pytest.mark.tensorflow
def test_copies_and_clipping_beside_a_function_that_trains_are_no_steps(
    watch: Callable[..., Watched],
) -> None:
    weight, target = tf.Variable(1.0), tf.Variable(1.0)

    @tf.function
    def train_step(x):
        weight.assign_sub(x)

    watched = watch()
    for _ in range(3):  # before training
        target.assign(weight)
    for _ in range(5):
        train_step(tf.constant(0.1))
        weight.assign(tf.clip_by_value(weight, -1.0, 1.0))
        target.assign_add(0.1 * (weight - target))
    assert watched.end() == 5
    assert watched.rules == [["train_step"]]


@pytest.mark.tensorflow
def test_counters_and_what_is_not_trained_are_no_steps(watch: Callable[..., Watched]) -> None:
    count = tf.Variable(0)
    mean = tf.Variable(0.0, trainable=False)
    watched = watch()
    for _ in range(20):
        count.assign_add(1)
        mean.assign_add(0.5)
    assert watched.end() == 0
