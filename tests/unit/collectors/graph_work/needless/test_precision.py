"""A graph that computes in double or half precision is known by its products."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.precision import (
    find_double_precision,
    find_half_precision,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def find(data, loss_of=tf.reduce_sum, finder=find_double_precision):
    weights = tf.Variable(np.ones((16, 16), data.dtype))
    kept = []

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            loss = loss_of(tf.matmul(data, weights))
        kept.append(([loss], [tape.gradient(loss, weights)]))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = finder(StepGraph(*kept[-1]))
    del function
    return found


def test_what_numpy_makes_is_in_double_precision():
    found = find(np.ones((8, 16)))
    assert found.share > 0.9
    assert found.operation.type == "MatMul"


def test_single_precision_is_not_told_nor_a_loss_in_double():
    data = np.ones((8, 16), np.float32)
    assert find(data) is None
    assert find(data, lambda outputs: tf.reduce_sum(tf.cast(outputs, tf.float64))) is None


def test_half_precision_is_told_apart_from_double():
    data = np.ones((8, 16), np.float16)
    found = find(data, finder=find_half_precision)
    assert found.share > 0.9
    assert found.operation.type == "MatMul"
    assert find(data) is None
    assert find(np.ones((8, 16)), finder=find_half_precision) is None
