"""Many small weights on one tensor are counted with their updates; one layer, and few, are not."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.parallel_weights import (
    find_parallel_weights,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

MANY = 24


def find(model):
    """In a step that trains a model by Adam."""
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x, training=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        kept.append(([loss], gradients))
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    kind = model.inputs[0].dtype
    function = step.get_concrete_function(np.zeros((8, *model.input_shape[1:]), kind))
    found = find_parallel_weights(StepGraph(*kept[-1]))
    del function
    return found


def with_heads(heads, units=1, shared=False):
    given = tf.keras.Input((20,))
    features = tf.keras.layers.Dense(32, activation="relu")(given)
    layer = tf.keras.layers.Dense
    one = layer(units)
    parts = [(one if shared else layer(units))(features) for _ in range(heads)]
    return tf.keras.Model(given, tf.keras.layers.Concatenate()(parts))


def with_tables(columns):
    given = tf.keras.Input((columns,), dtype="int32")
    parts = [
        tf.keras.layers.Embedding(30, 4)(given[:, column : column + 1]) for column in range(columns)
    ]
    joined = tf.keras.layers.Flatten()(tf.keras.layers.Concatenate()(parts))
    return tf.keras.Model(given, tf.keras.layers.Dense(3)(joined))


def test_heads_are_most_of_a_small_step():
    found = find(with_heads(MANY))
    assert (found.times, found.lookups) == (MANY, 0)
    assert found.operation.type == "MatMul"
    assert 0.6 < found.share < 0.95


def test_more_heads_are_a_larger_share():
    assert find(with_heads(40)).share > find(with_heads(20)).share


def test_tables_are_most_of_a_small_step():
    found = find(with_tables(MANY))
    assert (found.times, found.lookups) == (MANY, 1)
    assert 0.5 < found.share < 0.95


def test_large_heads_are_a_small_share():
    small, large = find(with_heads(MANY)), find(with_heads(MANY, units=20_000))
    assert large.share < 0.5 * small.share


@pytest.mark.parametrize(
    "model", [with_heads(8), with_heads(MANY, shared=True), with_tables(6)], ids=["few", "one", "6"]
)
def test_few_weights_and_one_that_is_shared_are_not_told(model):
    assert find(model) is None


def test_layers_one_after_the_other_are_not_told():
    given = tf.keras.Input((16,))
    made = given
    for _ in range(MANY):
        made = tf.keras.layers.Dense(16, activation="relu")(made)
    assert find(tf.keras.Model(given, made)) is None


def find_in(compute, variables):
    """In a step whose loss is computed of ids (8, 24), by any variables, which learn by hand."""
    kept = []

    @tf.function(input_signature=[tf.TensorSpec((8, MANY), tf.int32)])
    def step(ids):
        with tf.GradientTape() as tape:
            loss = compute(ids)
        gradients = tape.gradient(loss, variables)
        kept.append(([loss], [getattr(each, "values", each) for each in gradients]))
        for variable, gradient in zip(variables, gradients, strict=True):
            variable.assign_sub(tf.convert_to_tensor(gradient))
        return loss

    function = step.get_concrete_function()
    found = find_parallel_weights(StepGraph(*kept[-1]))
    del function
    return found


def test_tables_that_are_asked_for_the_same_ids_are_not_columns():
    tables = [tf.Variable(tf.ones((30, 4))) for _ in range(MANY)]
    parts = find_in(
        lambda ids: tf.reduce_sum(
            tf.concat([tf.gather(table, ids[:, n]) for n, table in enumerate(tables)], 1) ** 2
        ),
        tables,
    )
    assert (parts.times, parts.lookups) == (MANY, 1)
    same = find_in(
        lambda ids: tf.reduce_sum(tf.concat([tf.gather(each, ids) for each in tables], 1) ** 2),
        tables,
    )
    assert same is None


def test_columns_of_sizes_that_are_listed_are_told():
    tables = [tf.Variable(tf.ones((30, 4))) for _ in range(MANY)]

    def compute(ids):
        columns = tf.split(ids, [1] * MANY, axis=1)
        pairs = zip(tables, columns, strict=True)
        return tf.reduce_sum(tf.concat([tf.gather(*pair) for pair in pairs], 1) ** 2)

    assert find_in(compute, tables).times == MANY


def test_losses_of_their_own_and_what_follows_by_other_weights_stay():
    heads = [tf.Variable(tf.ones((MANY, 1))) for _ in range(MANY)]
    second = [tf.Variable(tf.ones((1, 1))) for _ in range(MANY)]

    def together(ids):
        x = tf.cast(ids, tf.float32)
        return tf.reduce_mean(tf.concat([tf.matmul(x, each) for each in heads], 1) ** 2)

    def by_each(ids):
        x = tf.cast(ids, tf.float32)
        logits = [tf.matmul(x, each) for each in heads]
        pairs = zip(logits, tf.unstack(x, axis=1), strict=True)
        return tf.add_n([tf.reduce_mean(tf.square(logit[:, 0] - y)) for logit, y in pairs])

    def followed(ids):
        x = tf.cast(ids, tf.float32)
        pairs = zip(heads, second, strict=True)
        return tf.add_n([tf.reduce_mean(tf.matmul(tf.matmul(x, one), w)) for one, w in pairs])

    starts = {}
    for compute, variables in ((together, heads), (by_each, heads), (followed, heads + second)):
        starts[compute] = find_in(compute, variables).share
    assert starts[by_each] < 0.75 * starts[together]
    assert starts[followed] < 0.75 * starts[together]
