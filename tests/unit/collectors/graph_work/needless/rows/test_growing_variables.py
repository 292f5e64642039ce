"""A variable to which a graph adds rows is found by what joins them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.growing_variables import (
    find_growing_variable,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def find(update, shape=(None, 4)):
    weights = tf.Variable(tf.ones((4, 4)))
    queue = tf.Variable(tf.ones((8, 4)), shape=tf.TensorShape(shape))
    kept = []

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            keys = tf.matmul(tf.ones((8, 4)), weights)
            loss = tf.reduce_sum(keys)
        kept.append(([loss], [tape.gradient(loss, weights)]))
        update(queue, keys)
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_growing_variable(StepGraph(*kept[-1]))
    del function
    return found


def append(queue, keys):
    queue.assign(tf.concat([keys, queue], 0))


def append_some(queue, keys):
    queue.assign(tf.concat([queue, keys], 0)[:1000])


@pytest.mark.parametrize("update", [append, append_some])
def test_what_joins_the_rows_is_found(update):
    assert find(update).operation.type == "ConcatV2"


def replace(queue, keys):
    queue.assign(tf.concat([keys, keys], 0))


def shift(queue, keys):
    queue.assign(tf.concat([keys, queue], 0)[:8])


def test_other_assignments_and_a_variable_of_one_shape_are_none():
    assert find(replace) is None
    assert find(shift, (8, 4)) is None
