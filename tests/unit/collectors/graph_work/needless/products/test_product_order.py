"""Three matrices in the longer order are found; those in the shorter one, and layers, are not."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.product_order import (
    find_product_order,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

NODES, WIDE, NARROW = 300, 128, 8


def find(compute, *shapes, examples=NODES):
    """In a step with weights of these shapes, on (examples, WIDE) numbers that are learned, too."""
    weights = [tf.Variable(tf.ones(shape)) for shape in ((WIDE, WIDE), *shapes)]
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([examples, WIDE])])
    def step(x):
        with tf.GradientTape() as tape:
            states = tf.nn.relu(tf.matmul(x, weights[0]))
            loss = tf.reduce_mean(compute(states, *weights[1:]) ** 2)
        kept.append(([loss], tape.gradient(loss, weights)))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_product_order(StepGraph(*kept[-1]))
    del function
    return found


def adjacency(*batch):
    return tf.random.uniform((*batch, NODES, NODES))


def wide_rows_first(states, weights):
    return (adjacency() @ states) @ weights


def by_the_transposed(states, weights):
    return tf.matmul(weights, tf.matmul(states, adjacency(), transpose_a=True), transpose_a=True)


def a_row_of_examples(states, weights):
    return tf.reshape(tf.matmul(adjacency(2), states), (2 * NODES, WIDE)) @ weights


@pytest.mark.parametrize(
    ("compute", "times"), [(wide_rows_first, 1), (by_the_transposed, 1), (a_row_of_examples, 2)]
)
def test_rows_are_summed_up_that_could_be_narrow_before(compute, times):
    found = find(compute, (WIDE, NARROW))
    made = NODES * NODES * WIDE + NODES * WIDE * NARROW
    enough = NODES * WIDE * NARROW + NODES * NODES * NARROW
    assert (found.operation.type, found.products) == ("MatMul", times * made)
    assert found.needed == times * enough
    assert 0.2 < found.share < 1


def test_a_large_square_is_made_of_a_few_columns():
    def project(states, columns):
        return states @ (columns @ tf.transpose(columns))

    found = find(project, (WIDE, NARROW), examples=16)
    assert found.products == WIDE * NARROW * WIDE + 16 * WIDE * WIDE
    assert found.needed == 2 * 16 * WIDE * NARROW


def narrow_rows_first(states, weights):
    return adjacency() @ (states @ weights)


def with_something_between(states, weights):
    return tf.nn.tanh(adjacency() @ states) @ weights


def taken_twice(states, weights):
    summed = adjacency() @ states
    return summed @ weights + tf.reduce_sum(summed)


@pytest.mark.parametrize("compute", [narrow_rows_first, with_something_between, taken_twice])
def test_other_products_are_not_told(compute):
    assert find(compute, (WIDE, NARROW)) is None


def test_two_layers_with_nothing_between_them_are_a_model_of_its_own():
    def two_layers(states, one, other):
        return (states @ one) @ other

    assert find(two_layers, (WIDE, 4 * WIDE), (4 * WIDE, NARROW)) is None
