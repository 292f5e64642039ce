"""The graph inside of an operation is found, and how often it runs."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import RUNS_OTHERS, find_inner

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def inner_of(function, *shapes):
    made = tf.function(function).get_concrete_function(*map(tf.TensorSpec, shapes))
    operations = [each for each in made.graph.get_operations() if each.type in RUNS_OTHERS]
    return [(each.type, find_inner(each)) for each in operations]


@pytest.mark.parametrize("layer", ["GRU", "LSTM", "SimpleRNN"])
def test_a_recurrent_layer_goes_round_once_for_each_step_of_a_sequence(layer):
    made = getattr(keras.layers, layer)(8)
    made.build((4, 20, 3))
    ((kind, inner),) = inner_of(made, (4, 20, 3))
    assert kind == "While"
    assert inner.rounds == 20
    assert any(each.type == "MatMul" for each in inner.operations)


def test_its_gradient_goes_round_as_often():
    made = keras.layers.GRU(8)
    made.build((4, 20, 3))

    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(made(x))
        return tape.gradient(loss, made.trainable_variables)

    assert [(kind, inner.rounds) for kind, inner in inner_of(step, (4, 20, 3))] == [
        ("While", 20),
        ("StatelessWhile", 20),
    ]


def test_a_function_runs_once_in_each_call():
    called = tf.function(lambda x: tf.exp(x))
    ((_, inner),) = inner_of(lambda x: called(x) + 1.0, (4,))
    assert inner.rounds == 1
    assert any(each.type == "Exp" for each in inner.operations)


def test_a_loop_that_ends_by_what_it_computes_has_no_number():
    def grow(x):
        (grown,) = tf.while_loop(lambda y: tf.reduce_sum(y) < 9.0, lambda y: (y * 2.0,), (x,))
        return grown

    assert [inner for _, inner in inner_of(grow, (4,))] == [None]


def test_lists_tell_the_rounds_of_a_loop_over_them():
    rounds = inner_of(lambda x: tf.scan(lambda total, row: total + row, x), (6, 2))
    assert [inner.rounds for _, inner in rounds] == [6]
