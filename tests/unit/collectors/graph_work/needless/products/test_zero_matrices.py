"""A product with a matrix of zeros is told where a sparse one would take less."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.zero_matrices import (
    find_zero_matrix,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SIDE = 1_200


def matrix_of(filled):
    numbers = np.random.default_rng(0).random((SIDE, SIDE))
    return (numbers < filled).astype(np.float32)


def find(matrix, step, columns=64):
    """In a function that is called with the matrix and (SIDE, columns)."""
    function = tf.function(step).get_concrete_function(
        matrix=tf.TensorSpec([SIDE, SIDE]), x=tf.TensorSpec([SIDE, columns])
    )
    return find_zero_matrix(function.graph, {"matrix:0": tf.constant(matrix)})


def multiply(matrix, x):
    return tf.nn.relu(tf.matmul(matrix, x))


@pytest.mark.parametrize(
    ("filled", "columns", "least", "most"),
    [(0.001, 64, 0.7, 0.8), (0.003, 64, 0.3, 0.4), (0.003, 16, 0.85, 0.95)],
)
def test_it_spares_what_its_zeros_take(filled, columns, least, most):
    found = find(matrix_of(filled), multiply, columns)
    assert (found.operation.type, found.rows, found.columns) == ("MatMul", SIDE, SIDE)
    assert found.filled == pytest.approx(filled, rel=0.2)
    assert least < found.share < most


def test_that_of_a_function_and_a_constant_count():
    inner, constant = tf.function(multiply), matrix_of(0.001)
    assert find(matrix_of(0.001), lambda matrix, x: inner(matrix, x)).share > 0.7
    assert (
        find(matrix_of(1.0), lambda matrix, x: tf.matmul(constant, x, transpose_a=True)).share > 0.7
    )


@pytest.mark.parametrize(
    ("filled", "step"),
    [
        (0.02, multiply),
        (0.001, lambda matrix, x: matrix[:100, :100] @ x[:100]),
        (0.001, lambda matrix, x: (matrix + 1) @ x),
    ],
    ids=["too many numbers", "small", "another matrix"],
)
def test_others_are_as_good_as_they_are(filled, step):
    assert find(matrix_of(filled), step) is None
