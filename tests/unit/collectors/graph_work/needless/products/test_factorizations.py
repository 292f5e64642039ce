"""A matrix that a step factorizes twice is found, and one factor, or eigenvectors, is not."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.factorizations import (
    find_factorizations,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS = 300


def find(compute, is_learned=True):
    """In a step whose loss is made of a covariance, which is learned, and of the examples."""
    weights = tf.Variable(tf.ones([8, 6]))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([ROWS, 8])])
    def step(x):
        with tf.GradientTape() as tape:
            features = x @ weights
            covariance = tf.matmul(features, features, transpose_b=True) + tf.eye(ROWS)
            if not is_learned:
                covariance = tf.stop_gradient(covariance)
            loss = compute(covariance, x[:, :1]) + tf.reduce_sum(features)
        kept.append(([loss], [tape.gradient(loss, weights)]))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_factorizations(StepGraph(*kept[-1]))
    del function
    return found


def invert(matrix, y):
    return tf.reduce_sum(y * (tf.linalg.inv(matrix) @ y))


def invert_and_slogdet(matrix, y):
    return invert(matrix, y) + tf.linalg.slogdet(matrix)[1]


def invert_and_eigenvalues(matrix, y):
    inverted = invert(tf.identity(matrix), y)
    return inverted + tf.reduce_sum(tf.math.log(tf.linalg.eigvalsh(matrix)))


@pytest.mark.parametrize(
    ("compute", "kind", "least"),
    [
        (invert_and_slogdet, "LogMatrixDeterminant", 0.15),
        (invert_and_eigenvalues, "SelfAdjointEigV2", 0.5),
    ],
)
def test_one_factor_would_do(compute, kind, least):
    found = find(compute)
    assert (found.operation.type, found.times, found.side) == (kind, 2, ROWS)
    assert least < found.share < 0.9


def test_without_gradients_one_factor_spares_more_of_less():
    found = find(invert_and_slogdet, is_learned=False)
    assert find(invert_and_slogdet).share < found.share < 1


def test_of_numbers_that_are_not_learned_the_gradients_take_nothing():
    def learn_vectors(matrix, y):
        fixed = tf.stop_gradient(matrix)
        vectors = matrix[:, :1]
        logs = tf.math.log(tf.linalg.eigvalsh(fixed))
        return tf.reduce_sum(vectors * (tf.linalg.inv(fixed) @ vectors)) + tf.reduce_sum(logs)

    assert 0.5 < find(learn_vectors).share < 1


def test_a_matrix_of_unknown_shape_is_no_error():
    def of_unknown_shape(matrix, y):
        read = tf.numpy_function(lambda each: each, [matrix], tf.float32)
        return tf.reduce_sum(tf.linalg.inv(read)) + tf.linalg.slogdet(read)[1]

    assert find(of_unknown_shape) is None


def solve_and_slogdet(matrix, y):
    return tf.reduce_sum(y * tf.linalg.solve(matrix, y)) + tf.linalg.slogdet(matrix)[1]


def factorize(matrix, y):
    factor = tf.linalg.cholesky(matrix)
    logs = tf.math.log(tf.linalg.diag_part(factor))
    return tf.reduce_sum(y * tf.linalg.cholesky_solve(factor, y)) + tf.reduce_sum(logs)


def two_matrices(matrix, y):
    return invert(matrix, y) + tf.linalg.slogdet(matrix + tf.eye(ROWS))[1]


def eigenvectors(matrix, y):
    values, vectors = tf.linalg.eigh(matrix)
    return invert(matrix, y) + tf.reduce_sum(tf.math.log(values)) + tf.reduce_sum(vectors @ y)


def largest_eigenvalue(matrix, y):
    return invert(matrix, y) + tf.reduce_max(tf.linalg.eigvalsh(matrix))


def inverted_twice(matrix, y):
    return invert(matrix, y) + tf.linalg.trace(tf.linalg.inv(matrix))


def not_symmetric(matrix, y):
    flow = tf.eye(ROWS) + tf.tile(y, [1, ROWS])
    return tf.reduce_sum(tf.linalg.inv(flow) @ matrix) + tf.linalg.slogdet(flow)[1]


@pytest.mark.parametrize(
    "compute",
    [
        invert,
        solve_and_slogdet,
        factorize,
        two_matrices,
        eigenvectors,
        largest_eigenvalue,
        inverted_twice,
        not_symmetric,
    ],
)
def test_nothing_is_told_where_one_factor_spares_nothing(compute):
    assert find(compute) is None
