"""Which inputs XLA needs by value, for graphs that TensorFlow has really traced."""

import time

import pytest

from tb_slowdown_plugin.collectors.xla_constants import NEEDED_BY, ConstantInputs

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")

SIZE = tf.TensorSpec([], tf.int32)
X = tf.TensorSpec([20], tf.float32)


def needed(function, *signature):
    """Place of an input -> type of the operation that needs its value."""
    traced = tf.function(function, jit_compile=True, input_signature=signature)
    graph = traced.get_concrete_function().graph
    return {place: each.type for place, each in ConstantInputs().of(graph).items()}


def test_the_operations_have_the_arguments_that_are_named():
    from tensorflow.python.framework import op_def_registry

    for operation, names in NEEDED_BY.items():
        definition = op_def_registry.get(operation)
        assert definition is not None, operation
        assert names <= {argument.name for argument in definition.input_arg}, operation
        assert not any(argument.type_list_attr for argument in definition.input_arg), operation


WHAT_XLA_DOES = {
    "slice": (lambda n, x: tf.slice(x, [n], [2]), {0: "Slice"}),
    "index": (lambda n, x: x[n + 1], {0: "StridedSlice"}),
    "range": (lambda n, x: tf.reduce_sum(tf.range(n)), {0: "Range"}),
    "reshape": (lambda n, x: tf.reduce_sum(tf.reshape(x, [n, -1])), {0: "Reshape"}),
    "one hot": (lambda n, x: tf.reduce_sum(tf.one_hot([0], 2 * n)), {0: "OneHot"}),
    "tile": (lambda n, x: tf.reduce_sum(tf.tile(x, [n])), {0: "Tile"}),
    "gather": (lambda n, x: tf.gather(x, n + tf.range(3)), {}),
    "roll": (lambda n, x: tf.roll(x, n, axis=0), {}),
    "size of x": (lambda n, x: tf.range(tf.shape(x)[0]) + n, {}),
}


@pytest.mark.parametrize("name", WHAT_XLA_DOES)
def test_the_walk_finds_what_xla_compiles_again_for(name):
    function, expected = WHAT_XLA_DOES[name]
    assert needed(function, SIZE, X) == expected
    jitted = tf.function(function, jit_compile=True)
    new, known = cpu_seconds(jitted, [tf.constant(n) for n in (4, 5, 10, 2)], tf.ones([20]))
    assert (min(new[1:]) > 3 * min(known)) == bool(expected)


def cpu_seconds(function, values, *others):
    """What a call with each value takes for the first time, and for the second."""

    def measure(value):
        began = time.process_time()
        function(value, *others)
        return time.process_time() - began

    return [measure(value) for value in values], [measure(value) for value in values]


def test_functions_branches_and_loops_are_looked_into():
    @tf.function
    def inner(x, n):
        return tf.reduce_sum(tf.slice(x, [n], [2]))

    def branch(n, x):
        return tf.cond(x[0] > 0, lambda: inner(x, n), lambda: 0.0)

    def loop(n, x):
        return tf.while_loop(lambda i, _: i < 3, lambda i, sum_: (i + 1, sum_ + x[n]), (0, 0.0))[1]

    assert needed(lambda n, x: inner(x, n * 2), SIZE, X) == {0: "Slice"}
    assert needed(branch, SIZE, X) == {0: "Slice"}
    assert needed(loop, SIZE, X) == {0: "StridedSlice"}


def test_a_loop_counter_and_unused_operations_need_no_constant():
    def counts(n, x):
        return tf.while_loop(
            lambda i, _: i < 9, lambda i, sum_: (i + 1, sum_ + tf.gather(x, i)), (n, 0.0)
        )[1]

    def unused(n, x):
        tf.range(n)
        return x + 1.0

    assert needed(counts, SIZE, X) == {}
    assert needed(unused, SIZE, X) == {}
