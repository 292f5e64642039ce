"""Which graphs train: those that assign to trainable variables, however deep."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("tensorflow")

import tensorflow as tf

from tb_slowdown_plugin.writer.launch.training.graph_updates import computes_gradients, trains

pytestmark = pytest.mark.tensorflow

weight = tf.Variable([1.0, 2.0])
counter = tf.Variable(0.0, trainable=False)


@tf.function
def update(x):
    weight.assign_sub(x)


@tf.function
def count(x):
    counter.assign_add(tf.reduce_sum(x * weight))


@tf.function
def call_update(x):
    update(x)


@tf.function
def call_count(x):
    count(x)
    return weight * 2


@tf.function
def update_in_loop(x):
    for _ in tf.range(3):
        update(x)


@tf.function
def count_in_loop(x):
    for _ in tf.range(3):
        count(x)


@tf.function
def update_in_branch(x):
    if tf.reduce_sum(x) > 0:
        update(x)


@tf.function(jit_compile=True)
def update_compiled(x):
    weight.assign_sub(x)


@tf.function
def call_compiled(x):
    update_compiled(x)


@tf.function
def scatter(x):
    weight.scatter_add(tf.IndexedSlices(x[:1], tf.constant([0])))


@tf.function
def compute(x):
    return x * weight


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (update, True),
        (call_update, True),
        (update_in_loop, True),
        (update_in_branch, True),
        (call_compiled, True),
        (scatter, True),
        (count, False),
        (call_count, False),
        (count_in_loop, False),
        (compute, False),
    ],
    ids=lambda value: value.python_function.__name__ if hasattr(value, "python_function") else "",
)
def test_a_graph_trains_if_it_assigns_to_a_trainable_variable(
    function: Callable[..., Any], expected: bool
) -> None:
    assert trains(function.get_concrete_function(tf.ones(2))) is expected


@tf.function
def descend(rows, variables, steps, again):
    slope = tf.reduce_sum(next(rows)) * steps
    for variable in variables["all"]:
        variable.assign_sub(slope)
    again.assign_sub(slope)


def test_variables_that_a_function_is_called_with_are_trained_by_it() -> None:
    rows = iter(tf.data.Dataset.from_tensors(1.0).repeat())
    one, other = tf.Variable(1.0), tf.Variable(2.0)
    means = [tf.Variable(1.0, trainable=False), tf.Variable(2.0, trainable=False)]
    assert trains(descend.get_concrete_function(rows, {"all": [one, other]}, 3, one))
    assert trains(descend.get_concrete_function(rows, {"all": [means[0], other]}, 3, means[0]))
    assert not trains(descend.get_concrete_function(rows, {"all": means}, 3, means[0]))


def test_a_keras_model_trains_by_its_optimizer_and_not_by_its_metrics() -> None:
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.BatchNormalization()])
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    mean = tf.keras.metrics.Mean()

    @tf.function
    def train(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        mean.update_state(loss)

    @tf.function
    def evaluate(x):
        mean.update_state(tf.reduce_mean(model(x, training=False)))

    @tf.function
    def update_averages(x):
        return model(x, training=True)

    batch = tf.ones((4, 2))
    assert trains(train.get_concrete_function(batch))
    assert not trains(evaluate.get_concrete_function(batch))
    assert not trains(update_averages.get_concrete_function(batch))


@pytest.mark.parametrize("nested", [False, True])
def test_a_function_that_differentiates_is_told_from_one_that_doesnt(nested: bool) -> None:
    def slope(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x * weight)
        return tape.gradient(loss, weight)

    inner = tf.function(slope) if nested else slope
    differentiates, sums = tf.function(lambda x: inner(x) + 1.0), tf.function(tf.reduce_sum)
    for each in (differentiates, sums):
        each(tf.ones([2]))
    assert computes_gradients(differentiates)
    assert not computes_gradients(sums)
