"""What is computed for unused gradients alone is counted by the products of large operations."""

from __future__ import annotations

import math

import pytest

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    Gradients,
    cost_of,
    is_product,
    only_numbers_leave,
    share_of_graph,
    work_of,
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


@pytest.mark.parametrize(
    ("operation", "at_least"),
    [
        (lambda x: tf.linalg.inv(x), 2.0),
        (lambda x: tf.linalg.eigh(x)[0], 7.0),
        (lambda x: tf.linalg.cholesky(x), 0.5),
        (lambda x: x**1.5, 0.6),
        (lambda x: tf.random.shuffle(tf.reshape(x, [-1])), 0.9),
        (lambda x: tf.sort(tf.reshape(x, [-1])), 24.0),
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


def test_rows_that_are_examples_times_steps_count_as_so_many():
    """A layer of Keras on (?, 20, 30) multiplies a matrix of unknown rows by its weights."""
    layer = tf.keras.layers.Dense(40, use_bias=False)
    layer.build((None, 20, 30))

    @tf.function(input_signature=[tf.TensorSpec([None, 20, 30])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x))
        return tape.gradient(loss, layer.kernel)

    products = [
        each for each in step.get_concrete_function().graph.get_operations() if is_product(each)
    ]
    assert [work_of([each]) for each in products] == [2 * 32 * 20 * 30 * 40] * 2
