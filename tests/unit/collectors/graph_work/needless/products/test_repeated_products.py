"""Products that are repeated in the rounds of a loop are found, and their gradients counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.products.repeated_products import (
    find_repeated_products,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

ROUNDS, LENGTH, UNITS = 5, 256, 128


def find(attend, *, of_variable=True):
    """Over a memory that a layer has made, with a state of each round."""
    make, project, turn = (tf.Variable(tf.ones((UNITS, UNITS))) for _ in range(3))
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([LENGTH, UNITS])])
    def step(x):
        with tf.GradientTape() as tape:
            memory = tf.matmul(x, make) if of_variable else x
            state = tf.zeros((1, UNITS))
            for keys in attend(memory, project):
                state = tf.tanh(tf.matmul(tf.reduce_sum(keys * state, 0)[None], turn))
            loss = tf.reduce_sum(state)
        variables = [make, project, turn] if of_variable else [project, turn]
        kept.append(StepGraph([loss], tape.gradient(loss, variables)))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_repeated_products(*kept)
    del function
    return found


def in_each_round(memory, weights):
    for _ in range(ROUNDS):
        yield tf.matmul(memory, weights)


def reshaped_in_each_round(memory, weights):
    """As Keras's dense layer does with three dimensions."""
    for _ in range(ROUNDS):
        yield tf.matmul(tf.reshape(memory, (-1, UNITS)), weights)


def once_before(memory, weights):
    keys = tf.matmul(memory, weights)
    for _ in range(ROUNDS):
        yield keys


def of_other_numbers(memory, weights):
    for shift in range(ROUNDS):
        yield tf.matmul(tf.roll(memory, shift, 0), weights)


@pytest.mark.parametrize("attend", [in_each_round, reshaped_in_each_round])
def test_the_gradients_of_all_but_one_are_counted(attend):
    found = find(attend)
    assert found.times == ROUNDS
    assert found.operation.type == "MatMul"
    # The product has two gradients in each of 5 rounds, and 4 would be spared; the layer before it
    # has a product and one gradient; those of the state are small.
    assert 0.3 < found.share < 0.7


def test_an_input_that_no_weights_made_has_no_gradient():
    assert 0 < find(in_each_round, of_variable=False).share < find(in_each_round).share


@pytest.mark.parametrize("attend", [once_before, of_other_numbers])
def test_what_is_computed_once_or_of_other_numbers_is_not_told(attend):
    assert find(attend) is None
