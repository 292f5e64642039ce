"""Tables of which an optimizer moves all rows are found, where a step looks up a few."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.dense_updates import find_dense_updates
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, COLUMNS = 50_000, 16


def find(optimizer, *, rows=ROWS, batch=64):
    table = tf.Variable(tf.ones((rows, COLUMNS)))
    optimizer.build([table])
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([batch], tf.int32)])
    def step(ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.gather(table, ids)))
        gradient = tape.gradient(loss, table)
        kept.append(([loss], [gradient.values]))
        optimizer.apply_gradients([(gradient, table)])
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_dense_updates(StepGraph(*kept[-1]))
    del function
    return found


def test_adam_moves_all_rows():
    found = find(tf.keras.optimizers.Adam())
    assert (found.rows, found.looked_up, found.looked_up_per_item) == (ROWS, 64, 0)
    assert found.operation.type == "ResourceGather"
    assert found.share > 0.9


def test_of_a_batch_of_any_size_rows_are_counted_by_the_example():
    found = find(tf.keras.optimizers.Adam(), batch=None)
    assert (found.looked_up, found.looked_up_per_item) == (0, 1)


def test_plain_gradient_descent_moves_those_that_were_looked_up():
    assert find(tf.keras.optimizers.SGD()) is None


def test_a_small_table_and_one_that_is_looked_up_as_a_whole_are_not_told():
    assert find(tf.keras.optimizers.Adam(), rows=100) is None
    assert find(tf.keras.optimizers.Adam(), batch=ROWS) is None
