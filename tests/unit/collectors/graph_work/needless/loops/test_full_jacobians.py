"""A Jacobian of which only the diagonal is used is counted; one that is used is not."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.loops.full_jacobians import (
    find_full_jacobians,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

POINTS, UNITS = 80, 32


def find(use, points=POINTS):
    """In a step whose loss is made of derivatives of a small network at some points.

    Args:
      use: Given a tape, outputs (points,), and inputs (points,): the derivatives.
      points: None for as many as come.
    """
    first = tf.Variable(tf.random.normal((1, UNITS)))
    second = tf.Variable(tf.random.normal((UNITS, 1)))
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape(persistent=True) as inner:
                inner.watch(x)
                u = tf.matmul(tf.tanh(tf.matmul(x[:, None], first)), second)[:, 0]
            loss = tf.reduce_mean(use(inner, u, x) ** 2)
        gradients = tape.gradient(loss, [first, second])
        kept.append(([loss], gradients))
        for weights, gradient in zip((first, second), gradients, strict=True):
            weights.assign_sub(gradient)
        return loss

    function = step.get_concrete_function(tf.TensorSpec((points,)))
    found = find_full_jacobians(StepGraph(*kept[-1]))
    del function
    return found


def diagonal(tape, u, x):
    return tf.linalg.diag_part(tape.jacobian(u, x))


def test_going_back_for_each_point_is_most_of_the_step():
    found = find(diagonal)
    assert (found.times, found.side) == (1, POINTS)
    assert found.operation.type.startswith("MatrixDiagPart")
    assert 0.6 < found.share < 1


def test_two_of_them_are_counted_together():
    found = find(lambda tape, u, x: diagonal(tape, u, x) + 2 * diagonal(tape, u, x))
    assert found.times == 2


def test_the_gradient_and_a_matrix_that_is_no_jacobian_are_not_told():
    assert find(lambda tape, u, x: tape.gradient(u, x)) is None
    assert find(lambda tape, u, x: tf.linalg.diag_part(u[:, None] * x)) is None


def test_a_jacobian_that_something_else_is_made_of_is_not_told():
    def use(tape, u, x):
        jacobian = tape.jacobian(u, x)
        return tf.linalg.diag_part(jacobian) + tf.reduce_sum(jacobian, axis=1)

    assert find(use) is None


def test_of_as_many_points_as_come_nobody_knows_how_many_it_spares():
    assert find(diagonal, None) is None


def test_beside_the_diagonal_is_another_question():
    assert find(lambda tape, u, x: tf.linalg.diag_part(tape.jacobian(u, x), k=1)) is None


def field_of(weights, back):
    return lambda x: tf.matmul(tf.tanh(tf.matmul(x[None], weights)), back)[0]


def slope_of(weights, back):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(tf.square(field_of(weights, back)(x)))
        return tape.gradient(total, x)

    return slope


@pytest.mark.parametrize("outputs_of", [field_of, slope_of], ids=["divergence", "Hessian"])
def test_numbers_of_one_example_depend_on_each_other(outputs_of):
    weights = tf.Variable(tf.random.normal((POINTS, UNITS)))
    back = tf.Variable(tf.random.normal((UNITS, POINTS)))
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(x)
                made = outputs_of(weights, back)(x)
            loss = tf.reduce_sum(tf.linalg.diag_part(inner.jacobian(made, x)))
        kept.append(([loss], tape.gradient(loss, [weights, back])))
        return loss

    function = step.get_concrete_function(tf.TensorSpec((POINTS,)))
    assert find_full_jacobians(StepGraph(*kept[-1])) is None
    del function
