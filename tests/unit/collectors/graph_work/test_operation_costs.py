"""What operations cost, next to a product of matrices."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.operation_costs import cost_of, is_product, work_of

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


@pytest.mark.parametrize(
    ("operation", "at_least"),
    [
        (lambda x: tf.linalg.inv(x), 2.0),
        (lambda x: tf.linalg.eigh(x)[0], 7.0),
        (lambda x: tf.linalg.cholesky(x), 0.5),
        (lambda x: x**1.5, 0.6),
        (lambda x: tf.random.shuffle(tf.reshape(x, [-1])), 0.9),
        (lambda x: tf.sort(tf.reshape(x, [-1])), 16.0),
        (lambda x: tf.math.top_k(tf.reshape(x, [-1]), 8)[0], 0.35),
    ],
    ids=["inverse", "eigenvalues", "Cholesky", "power", "shuffle", "sort", "the largest"],
)
def test_what_takes_longer_than_a_product_costs_more(operation, at_least):
    """Of a matrix of 512 rows, next to its product with itself."""

    def cost(build):
        with tf.Graph().as_default() as graph:
            build(tf.compat.v1.placeholder(tf.float32, [512, 512]))
            return cost_of(graph.get_operations())

    product = cost(lambda x: tf.matmul(x, x))
    assert at_least <= cost(operation) / product <= 1.3 * at_least
    assert cost(lambda x: x**2) < 0.1 * product


@pytest.mark.parametrize(
    ("equation", "one", "other", "products"),
    [
        ("bij,bjk->bik", [8, 20, 30], [8, 30, 40], 8 * 20 * 30 * 40),
        ("...i,io->...o", [8, 20, 30], [30, 40], 8 * 20 * 30 * 40),
        ("i...,o...->...io", [20, 8, 3], [30, 8, 3], 8 * 3 * 20 * 30),
    ],
)
def test_an_einsum_takes_what_its_indices_say(equation, one, other, products):
    with tf.Graph().as_default() as graph:
        given = [tf.compat.v1.placeholder(tf.float32, shape) for shape in (one, other)]
        tf.einsum(equation, *given)
    (einsum,) = (each for each in graph.get_operations() if each.type == "Einsum")
    assert is_product(einsum)
    assert work_of([einsum]) == 2 * products


def test_rows_are_sorted_two_at_a_time_and_short_ones_take_less():
    def cost(shape):
        with tf.Graph().as_default() as graph:
            tf.sort(tf.compat.v1.placeholder(tf.float32, shape))
            return cost_of(graph.get_operations())

    one, rows = cost([2**18]), cost([2**9, 2**9])
    assert one / rows == pytest.approx(18 / 9 * 2, rel=0.1)
