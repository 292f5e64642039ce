"""Rows of which a shape says nothing are counted by what they were made of."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.operation_costs import is_product, work_of

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_rows_that_are_examples_times_steps_count_as_so_many():
    """A layer of Keras on (?, 20, 30) multiplies a matrix of unknown rows by its weights."""
    layer = tf.keras.layers.Dense(40, use_bias=False)
    layer.build((None, 20, 30))

    @tf.function(input_signature=[tf.TensorSpec([None, 20, 30])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x))
        return tape.gradient(loss, layer.kernel)

    products = [
        each for each in step.get_concrete_function().graph.get_operations() if is_product(each)
    ]
    assert [work_of([each]) for each in products] == [2 * 32 * 20 * 30 * 40] * 2
