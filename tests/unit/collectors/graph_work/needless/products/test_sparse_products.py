"""Products with matrices that are nearly all zeros are found in a traced graph, and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.sparse_products import (
    find_sparse_products,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, COLUMNS = 256, 32


def find(compute, rows=ROWS):
    """In a step with a layer of `COLUMNS` units, of so many rows."""
    layer = tf.Variable(tf.ones((COLUMNS, COLUMNS)))
    table = tf.Variable(tf.ones((rows, COLUMNS)))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([rows, rows]), tf.TensorSpec([rows], tf.int32)])
    def step(square, ids):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(compute(square, ids, table), layer))
        kept.append(([loss], tape.gradient(loss, [layer])))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_sparse_products(StepGraph(*kept[-1]))
    del function
    return found


def normalized(square, ids, table):
    scale = tf.linalg.diag(tf.reduce_sum(square, 1))
    return tf.matmul(scale @ square @ scale, table)


def scaled(square, ids, table):
    scale = tf.reduce_sum(square, 1)
    return tf.matmul(scale[:, None] * square * scale[None, :], table)


def encoded(square, ids, table):
    return tf.matmul(tf.one_hot(ids, table.shape[0]), table)


def looked_up(square, ids, table):
    return tf.gather(table, ids)


def test_two_products_with_a_diagonal_matrix_are_most_of_the_work():
    found = find(normalized)
    assert (found.columns, found.diagonal) == (ROWS, 1)
    assert found.operation.type.startswith(("MatMul", "BatchMatMul"))
    assert found.share > 0.8


def test_a_product_with_a_one_hot_encoding_is_one_of_the_two():
    found = find(encoded)
    assert (found.columns, found.diagonal) == (ROWS, 0)
    assert 0.5 < found.share < 0.95


@pytest.mark.parametrize(
    ("compute", "rows"),
    [(scaled, ROWS), (looked_up, ROWS), (normalized, 8), (encoded, 8)],
    ids=["scaled rows", "looked up", "a small diagonal", "few classes"],
)
def test_other_products_are_not_told(compute, rows):
    assert find(compute, rows) is None
