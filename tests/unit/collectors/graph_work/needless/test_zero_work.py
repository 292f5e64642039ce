"""What is multiplied by zero, or gone back through from a sign, is counted with its line."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.zero_work import find_zero_work
from tb_slowdown_plugin.collectors.graph_work.run_graph import RunGraph
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

WIDE = 64


def find(compute, examples=None):
    """In a step that learns by what `compute` makes of examples and two layers."""
    layers = [tf.Variable(tf.ones([WIDE, WIDE])) for _ in range(2)]
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([examples, WIDE])])
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


@pytest.mark.parametrize("examples", [None, 32, 4])
def test_the_backward_pass_behind_a_sign_is_zero(examples):
    found = find(attack, examples)
    assert (found.operation.type, found.sign) == ("Sign", 1)
    assert 0.1 < found.share < 0.6


@pytest.mark.parametrize("examples", [None, 32, 4])
def test_a_loss_of_weight_zero_is_computed_with_its_gradients(examples):
    found = find(lambda x, layers: weigh(0.0, x, layers), examples)
    assert (found.operation.name, found.sign) == ("mul", 0)
    assert 0.3 < found.share < 0.6


def test_another_weight_is_none_nor_is_a_gradient_that_is_stopped():
    def stopped(x, layers):
        outputs = run_through(x, layers)
        shifted = x + 0.1 * tf.stop_gradient(tf.sign(outputs))
        return tf.reduce_mean(run_through(shifted, layers) ** 2)

    assert find(lambda x, layers: weigh(0.5, x, layers)) is None
    assert find(stopped) is None


def test_a_second_gradient_through_a_layer_is_none():
    def penalty(x, layers):
        with tf.GradientTape() as inner:
            inner.watch(x)
            outputs = run_through(x, layers)
        return tf.reduce_mean(inner.gradient(outputs, x) ** 2)

    assert find(penalty) is None


def test_a_first_state_of_zeros_is_none():
    def recur(x, layers):
        state = tf.zeros_like(x)
        for _ in range(2):
            state = tf.tanh(x @ layers[0] + state @ layers[1])
        return tf.reduce_mean(state**2)

    assert find(recur) is None


def test_what_a_session_of_tensorflow_1_runs():
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [None, WIDE])
        layers = [v1.get_variable(f"layer{each}", [WIDE, WIDE]) for each in range(2)]
        loss = weigh(0.0, x, layers)
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    found = find_zero_work(RunGraph(graph, [train.name, loss.name]))
    assert (found.operation.name, found.sign) == ("mul", 0)
    assert 0.3 < found.share < 0.7
