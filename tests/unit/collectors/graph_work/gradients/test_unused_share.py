"""What is computed for unused gradients alone is counted by the products of large operations."""

from __future__ import annotations

import math

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.unused_share import (
    Gradients,
    only_numbers_leave,
    share_of_graph,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def share_of(build):
    with tf.Graph().as_default():
        return share_of_graph(build())


def two_layers(wide=True, rows=32):
    """256 numbers of a row to 256, and these to 10."""
    x = tf.compat.v1.placeholder(tf.float32, [rows, 256])
    first, second = tf.ones([256, 256]), tf.ones([256, 10])
    target = tf.reduce_sum(tf.matmul(tf.matmul(x, first), second) ** 2)
    of_first, of_second = tf.gradients(target, [first, second])
    return Gradients(target, [of_second], [of_first])


@pytest.mark.parametrize("rows", [32, None])
def test_the_backward_pass_of_a_layer_that_is_not_trained(rows):
    """The same products forward and for its gradient; those of ten numbers are few."""
    assert share_of(lambda: two_layers(rows=rows)) == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("layer", ["Conv2D", "DepthwiseConv2D"])
def test_the_gradients_of_a_convolution_take_what_it_takes(layer):
    def build():
        x = tf.ones([8, 16, 16, 8])
        kernel = tf.ones([3, 3, 8, 8] if layer == "Conv2D" else [3, 3, 8, 1])
        convolve = tf.nn.conv2d if layer == "Conv2D" else tf.nn.depthwise_conv2d
        strides = 1 if layer == "Conv2D" else [1, 1, 1, 1]
        seen = convolve(x, kernel, strides, "SAME")
        target = tf.reduce_sum(seen * seen)
        of_kernel, of_input = tf.gradients(target, [kernel, x])
        return Gradients(target, [of_kernel], [of_input])

    assert share_of(build) == pytest.approx(1 / 3, abs=0.06)


def test_what_a_function_computes_counts_where_it_is_called():
    def build():
        x = tf.ones([16, 16])
        called = tf.function(lambda y: y @ x @ x @ x)
        return Gradients(tf.reduce_sum(called(x)), [], [tf.ones([16, 16]) @ tf.ones([16, 16])])

    assert share_of(build) == pytest.approx(1 / 4, rel=0.1)


@pytest.mark.parametrize("known", [True, False])
def test_a_loop_counts_as_often_as_it_goes_round_where_that_is_known(known):
    def build(rounds):
        x = tf.ones([16, 16])
        _, made = tf.while_loop(
            lambda at, y: at < rounds if known else y[0, 0] < rounds,
            lambda at, y: (at + 1, y @ x),
            (0, x),
        )
        needed = tf.reduce_sum(made)
        return Gradients(needed, [], [tf.ones([16, 16]) @ tf.ones([16, 16])])

    share = share_of(lambda: build(10))
    assert math.isnan(share) if not known else share == pytest.approx(1 / 11, rel=0.1)


def leave(use):
    """Whether only numbers leave a function that does this with the gradient of 100 numbers."""
    weight = tf.Variable(tf.ones([10, 10]))
    found = []

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            target = tf.reduce_sum((x @ weight) ** 2)
        gradient = tape.gradient(target, weight)
        found.append(gradient)
        return use(gradient, weight)

    function = step.get_concrete_function(tf.TensorSpec([4, 10]))
    assert function.graph is found[-1].graph
    return only_numbers_leave(found[-1:])


def test_a_norm_is_a_number_and_a_gradient_or_an_update_is_none():
    assert leave(lambda gradient, _: tf.norm(gradient))
    assert not leave(lambda gradient, _: (tf.norm(gradient), gradient * 2.0))
    assert not leave(lambda gradient, weight: tf.norm(weight.assign_sub(gradient * 0.1)))
    assert not leave(lambda gradient, _: tf.cond(gradient[0, 0] > 0, lambda: 1.0, lambda: 2.0))


def test_a_gradient_that_another_one_is_made_of_updates():
    weight = tf.Variable(tf.ones([10, 10]))
    found = []

    @tf.function
    def step(x):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                target = tf.reduce_sum((x @ weight) ** 3)
            found.append(inner.gradient(target, weight))
            penalty = tf.norm(found[-1])
        weight.assign_sub(outer.gradient(penalty, weight))
        return penalty

    function = step.get_concrete_function(tf.TensorSpec([4, 10]))
    assert function.graph is found[-1].graph
    assert not only_numbers_leave(found[-1:])
