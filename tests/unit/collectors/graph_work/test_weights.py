"""The variable behind a product is found, and constants are compared by their values."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.weights import (
    handle_of,
    name_of_constant,
    weights_of,
)

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

LARGE = list(range(70_000))


def operations_of(function, *shapes):
    made = tf.function(function).get_concrete_function(*map(tf.TensorSpec, shapes))
    return made, made.graph.get_operations()


def test_a_variable_is_found_behind_a_cast_and_another_shape():
    weights = tf.Variable(tf.ones((4, 4), tf.float16))

    def step(x):
        return tf.matmul(x, tf.reshape(tf.cast(weights, tf.float32), (2, 8)))

    function, operations = operations_of(step, (3, 2))
    (product,) = (each for each in operations if each.type == "MatMul")
    (read,) = (each for each in operations if each.type == "ReadVariableOp")
    assert weights_of(product) == handle_of(product.inputs[1]) == read.inputs[0].op.name
    assert handle_of(product.inputs[0]) == ""
    del function


def test_a_product_of_two_inputs_has_no_weights():
    function, operations = operations_of(tf.matmul, (3, 2), (2, 3))
    assert [weights_of(each) for each in operations if each.type == "MatMul"] == [""]
    del function


def test_small_constants_are_the_same_by_value_and_large_ones_by_name():
    made = []

    def step():
        made.extend(tf.constant(each).op for each in ([1, 2], [1, 2], [3], LARGE, LARGE))
        return tf.constant(0)

    function, _ = operations_of(step)
    small, like, other, large, as_large = map(name_of_constant, made)
    assert small == like != other
    assert large != as_large
    del function
