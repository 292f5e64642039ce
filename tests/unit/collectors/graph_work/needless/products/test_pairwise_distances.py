"""Distances by all differences are found in a traced graph, and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.pairwise_distances import (
    find_pairwise_distances,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROWS, OTHERS, COLUMNS = 128, 64, 32


def find(distances, rows=ROWS, others=OTHERS):
    """In a step that learns the others, behind a layer."""
    book = tf.Variable(tf.ones((others, COLUMNS)))
    layer = tf.Variable(tf.ones((COLUMNS, COLUMNS)))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([rows, COLUMNS])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.reduce_min(distances(tf.matmul(x, layer), book), 1))
        kept.append(StepGraph([loss], tape.gradient(loss, [book, layer])))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_pairwise_distances(*kept)
    del function
    return found


def squared(a, b):
    return tf.reduce_sum(tf.square(a[:, None, :] - b[None, :, :]), axis=-1)


def to_the_power_of_two(a, b):
    return tf.reduce_sum((a[:, None] - b) ** 2, -1)


def by_one_operation(a, b):
    return tf.reduce_mean(tf.math.squared_difference(a[:, None], b[None]), -1)


def of_repeated_rows(a, b):
    ones, others = tf.tile(a[:, None], [1, OTHERS, 1]), tf.tile(b[None], [ROWS, 1, 1])
    return tf.reduce_sum(tf.square(ones - others), -1)


def by_a_product(a, b):
    squares = tf.reduce_sum(a**2, 1)[:, None] + tf.reduce_sum(b**2, 1)
    return squares - 2 * tf.matmul(a, b, transpose_b=True)


def by_amounts(a, b):
    """No product of matrices gives these."""
    return tf.reduce_sum(tf.abs(a[:, None] - b[None]), -1)


def to_the_mean(a, b):
    """No pairs."""
    near = tf.reduce_sum((a - tf.reduce_mean(a, 0)) ** 2, 1)
    return near[:, None] + tf.reduce_sum(b)


@pytest.mark.parametrize(
    "distances", [squared, to_the_power_of_two, by_one_operation, of_repeated_rows]
)
def test_all_that_has_a_number_for_each_pair_and_column_is_counted(distances):
    found = find(distances)
    assert found.numbers == ROWS * OTHERS * COLUMNS
    assert found.operation.type in ("Sub", "SquaredDifference")
    assert 0.7 < found.share < 1


@pytest.mark.parametrize("distances", [by_a_product, by_amounts, to_the_mean])
def test_other_distances_are_not_told(distances):
    assert find(distances) is None


def test_those_of_a_few_rows_are_not_told():
    assert find(squared, rows=16, others=8) is None


def of_all_pairs(a, b):
    return tf.reduce_sum(a[:, None] * b[None], -1)


def as_a_layer(a, b):
    """(ROWS, COLUMNS, 1) by (1, COLUMNS, OTHERS)."""
    return tf.reduce_sum(a[:, :, None] * tf.transpose(b)[None], 1)


def weighted(a, b):
    """Each row by its own weights: no product of two matrices."""
    return tf.reduce_sum(a[:, None] * tf.nn.softmax(a[:, None] + b[None], -1), -1)


def summed_over_others(a, b):
    return tf.reduce_sum(a[:, None] * b[None], 1)


@pytest.mark.parametrize("products", [of_all_pairs, as_a_layer])
def test_sums_of_products_of_all_pairs_are_those_of_matrices(products):
    found = find(products)
    assert (found.operation.type, found.products) == ("Mul", 1)
    assert found.numbers == ROWS * OTHERS * COLUMNS
    assert 0.7 < found.share < 1


@pytest.mark.parametrize("products", [weighted, summed_over_others])
def test_other_products_are_none(products):
    assert find(products) is None
