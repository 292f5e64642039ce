"""What is zero in a graph whatever is fed, by factors that are constants or read in each call."""

from __future__ import annotations

import gc

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.zero_tensors import find_numbers, find_zeros

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def trace(compute, *variables):
    """The tensors that `compute` makes, by name, of an argument and variables."""
    made = {}

    @tf.function
    def outer(x):
        @tf.function
        def inner(x):
            made.update(compute(x, *variables))
            return x + 0.0

        return inner(x)

    outer(tf.ones([2, 4]))
    return made, outer


def zeros_of(made):
    (graph,) = {tensor.graph for tensor in made.values()}
    numbers = find_numbers(made.values())
    found = find_zeros(graph, [each.tensor for each in numbers if each.is_zero()])
    return {name for name, tensor in made.items() if tensor.name in found}


def test_products_of_zero_are_zero_and_sums_with_something_else_are_not():
    made, _ = trace(
        lambda x: {
            "product": x * 0.0,
            "of it": tf.reshape(tf.matmul(x * 0.0, tf.ones([4, 3])), [6]),
            "quotient": (0.0 * x) / (x + 1.0),
            "sum of zeros": tf.add_n([x * 0.0, -(x * 0.0)]),
            "sum": x * 0.0 + x,
            "cosine": tf.cos(x * 0.0),
            "x": x,
        }
    )
    assert zeros_of(made) == {"product", "of it", "quotient", "sum of zeros"}


def test_other_operations_on_zeros():
    def compute(x):
        zero, image, taken = x * 0.0, tf.reshape(x * 0.0, [1, 2, 4, 1]), x > 0.5
        return {
            "transposed": tf.einsum("ij->ji", zero),
            "contracted": tf.einsum("ij,kj->ik", x, zero),
            "convolved": tf.nn.conv2d(image, tf.ones([2, 2, 1, 3]), 1, "SAME"),
            "by depth": tf.nn.depthwise_conv2d(image, tf.ones([2, 2, 1, 3]), [1] * 4, "SAME"),
            "filled": tf.fill(tf.shape(x), 0.0),
            "alike": tf.zeros_like(x),
            "constant": tf.constant([0.0, 0.0, 0.0]),
            "chosen": tf.where(taken, zero, tf.zeros_like(x)),
            "chosen of others": tf.where(taken, zero, x),
            "constant of others": tf.constant([0.0, 0.0, 1.0]),
            "filled with others": tf.fill(tf.shape(x), 1.0),
        }

    made, _ = trace(compute)
    assert zeros_of(made) == {name for name in made if "others" not in name}


def test_gradients_of_layers_on_zeros():
    kernel = tf.Variable(tf.ones([2, 2, 2, 1]))

    def compute(x, *_):
        with tf.GradientTape() as tape:
            tape.watch(x)
            image = tf.reshape(x, [1, 2, 4, 1])
            larger = tf.image.resize(tf.repeat(image, 2, axis=-1), [4, 8])
            seen = tf.nn.depthwise_conv2d(larger, kernel, [1] * 4, "SAME")
            loss = 0.0 * tf.reduce_mean(tf.sqrt(seen) + tf.math.rsqrt(seen) + 1.0 / seen)
        by_input, by_kernel = tape.gradient(loss, [x, kernel])
        return {"by input": by_input, "by kernel": by_kernel}

    made, _outer = trace(compute, kernel)
    assert zeros_of(made) == {"by input", "by kernel"}


def test_the_gradients_of_a_loss_of_weight_zero():
    weight = tf.Variable(0.0)
    kernels = [tf.Variable(tf.ones([3, 3, 1, 2])), tf.Variable(tf.ones([8, 3]))]

    def compute(x, *_):
        with tf.GradientTape() as tape:
            seen = tf.nn.relu(tf.nn.conv2d(tf.reshape(x, [1, 2, 4, 1]), kernels[0], 1, "SAME"))
            seen = tf.nn.max_pool2d(seen, (1, 2), (1, 1), "SAME")
            loss = weight * tf.reduce_mean(tf.tanh(tf.reshape(seen, [2, 8]) @ kernels[1]))
        first, second = tape.gradient(loss, kernels)
        return {"first": first, "second": second, "loss": loss}

    made, _outer = trace(compute)
    assert zeros_of(made) == {"first", "second", "loss"}
    weight.assign(0.5)
    assert zeros_of(made) == set()


def test_a_number_that_is_gone_is_not_zero():
    factor = tf.Variable(0.0)
    made, outer = trace(lambda x, read: {"product": x * read}, factor)
    (number,) = find_numbers(made.values())
    assert number.is_zero()
    del factor, made, outer
    gc.collect()
    assert not number.is_zero()


def test_arrays_and_counters_are_not_read():
    array, steps = tf.Variable(tf.zeros([4])), tf.Variable(0)
    made, _ = trace(lambda x, *_: {"product": x * array * tf.cast(steps, tf.float32)})
    assert find_numbers(made.values()) == []
