"""What is multiplied by zero, or gone back through from a sign, is counted with its line."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.zero_work import find_zero_work
from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

GIVEN, WIDE = 48, 64


def find(compute, *sizes):
    """In a step that learns by what `compute` makes of examples and two layers."""
    layers = [tf.Variable(tf.ones([GIVEN, WIDE])), tf.Variable(tf.ones([WIDE, WIDE]))]
    kept = []

    @tf.function(input_signature=[tf.TensorSpec(sizes or [None, GIVEN])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = compute(x, layers)
        gradients = tape.gradient(loss, layers)
        kept.append(([loss], [each for each in gradients if each is not None]))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_zero_work(StepGraph(*kept[-1]))
    del function
    return found


def run_through(x, layers):
    for weights in layers:
        x = tf.nn.relu(x @ weights)
    return x


def attack(x, layers):
    with tf.GradientTape() as probe:
        probe.watch(x)
        clean = tf.reduce_mean(run_through(x, layers) ** 2)
    shifted = x + 0.1 * tf.sign(probe.gradient(clean, x))
    return tf.reduce_mean(run_through(shifted, layers) ** 2)


def weigh(factor, x, layers):
    outputs = run_through(x, layers)
    return tf.reduce_mean(outputs) + factor * tf.reduce_mean(run_through(x + 1.0, layers) ** 2)


@pytest.mark.parametrize("sizes", [(), (32, GIVEN), (4, GIVEN)])
def test_the_backward_pass_behind_a_sign_is_zero(sizes):
    found = find(attack, *sizes)
    assert (found.operation.name, found.sign) == ("Sign", 1)
    assert 0.1 < found.share < 0.6


def test_examples_of_unknown_shape_are_no_error():
    def of_unknown_shape(x, layers):
        read = tf.numpy_function(lambda each: each, [x], tf.float32)
        loose = tf.reduce_mean(tf.sign(read))
        return attack(tf.ensure_shape(read, [None, GIVEN]), layers) + loose

    found = find(of_unknown_shape)
    assert (found.operation.name, found.sign) == ("Sign_1", 1)


@pytest.mark.parametrize("sizes", [(), (32, GIVEN), (4, GIVEN)])
def test_a_loss_of_weight_zero_is_computed_with_its_gradients(sizes):
    found = find(lambda x, layers: weigh(0.0, x, layers), *sizes)
    assert (found.operation.name, found.sign) == ("mul", 0)
    assert 0.3 < found.share < 0.6


def stopped(x, layers):
    outputs = run_through(x, layers)
    return tf.reduce_mean((outputs + tf.stop_gradient(tf.sign(outputs) - outputs)) ** 2)


def test_another_weight_is_none_nor_is_a_gradient_that_is_stopped():
    assert find(lambda x, layers: weigh(0.5, x, layers)) is None
    assert find(stopped) is None


def penalty(x, layers):
    with tf.GradientTape() as inner:
        inner.watch(x)
        outputs = run_through(x, layers)
        distance = tf.abs(outputs)
    return tf.reduce_mean(inner.gradient(distance, x) ** 2)


def recur(x, layers, start):
    state = start(tf.shape(x)[0])
    for _ in range(2):
        state = tf.tanh(x @ layers[0] + state @ layers[1])
    return tf.reduce_mean(state**2)


STARTS = {
    "zeros": lambda count: tf.zeros([count, WIDE]),
    "tiled": lambda count: tf.tile(tf.zeros([1, 1]), [count, WIDE]),
    "broadcast": lambda count: tf.broadcast_to(0.0, [count, WIDE]),
    "repeated": lambda count: tf.reshape(tf.repeat(tf.zeros([1]), count * WIDE), [count, WIDE]),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("sizes", [(), (32, GIVEN)])
def test_a_first_state_of_zeros_is_none(start, sizes):
    assert find(lambda x, layers: recur(x, layers, STARTS[start]), *sizes) is None


@pytest.mark.parametrize("sizes", [(), (32, GIVEN)])
def test_zeros_of_others_are_none_beside_a_sign_whose_gradient_is_stopped(sizes):
    def second_gradient(x, layers):
        return penalty(x, layers) + stopped(x, layers)

    def first_state(x, layers):
        return recur(x, layers, STARTS["zeros"]) + stopped(x, layers)

    assert find(second_gradient, *sizes) is None
    assert find(first_state, *sizes) is None


def test_of_several_zeros_the_one_that_costs_most_is_told_with_what_it_costs():
    def both(x, layers):
        return attack(x, layers) + weigh(0.0, x, layers)

    found = find(both)
    assert (found.operation.name, found.sign) == ("Sign", 1)
    assert 0.15 < found.share < find(attack).share


def test_a_loss_is_told_behind_many_regularizers_of_weight_zero():
    def regularized(x, layers):
        small = tf.add_n([0.0 * tf.reduce_sum(each[:, :8] ** 2) for each in 10 * layers])
        return small + weigh(0.0, x, layers)

    found = find(regularized, 4096, GIVEN)
    assert found.operation.name == "mul_20"
    assert 0.3 < found.share < 0.6


def test_what_a_session_of_tensorflow_1_runs():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, GIVEN])
        shapes = {"first": [GIVEN, WIDE], "second": [WIDE, WIDE]}
        layers = [v1.get_variable(name, shape) for name, shape in shapes.items()]
        loss = weigh(0.0, x, layers)
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    found = find_zero_work(RunGraph(graph, [train.name, loss.name]))
    assert (found.operation.name, found.sign) == ("mul", 0)
    assert 0.3 < found.share < 0.7
