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


def over_a_range(x):
    for place in tf.range(1, 6, 2):
        x += tf.cast(place, tf.float32)
    return x


def over_rows(x):
    total = 0.0
    for row in x:
        total += row
    return total


def over_a_side(x):
    total = 0.0
    for place in tf.range(tf.shape(x)[0]):
        total += x[place]
    return total


def up_to_a_number(x):
    place = tf.constant(0)
    while place <= 4:
        x += x[place]
        place += 1
    return x


@pytest.mark.parametrize(
    ("loop", "rounds"),
    [(over_a_range, 3), (over_rows, 7), (over_a_side, 7), (up_to_a_number, 5)],
)
def test_a_loop_of_python_that_is_in_the_graph_goes_round_as_often_as_there(loop, rounds):
    def differentiate(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            made = loop(x)
        return tape.gradient(made, x)

    assert [inner.rounds for _, inner in inner_of(differentiate, (7,))] == [rounds, rounds]


def test_a_limit_that_a_round_changes_has_no_number():
    def shrink(x):
        place, last = tf.constant(0), tf.constant(9)
        while place < last:
            x, place, last = x * 2.0, place + 1, last - 1
        return x

    assert [inner for _, inner in inner_of(shrink, (4,))] == [None]


def test_lists_tell_the_rounds_of_a_loop_over_them():
    rounds = inner_of(lambda x: tf.scan(lambda total, row: total + row, x), (6, 2))
    assert [inner.rounds for _, inner in rounds] == [6]


def test_the_rounds_of_a_loop_in_a_function_are_known_by_its_arguments():
    @tf.function
    def double(x, rounds):
        return tf.while_loop(lambda _: True, lambda y: (y * 2.0,), (x,), maximum_iterations=rounds)

    ((_, inner),) = inner_of(lambda x: double(x, tf.constant(7))[0], (4,))
    (loop,) = (each for each in inner.operations if each.type in RUNS_OTHERS)
    assert find_inner(loop) is None
    assert find_inner(loop, inner).rounds == 7


def test_a_gradient_that_is_a_function_of_its_own_goes_round_as_often():
    """As those of a persistent tape are."""
    made = keras.layers.GRU(8)
    made.build((4, 20, 3))

    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(made(x))
        return tape.gradient(loss, made.trainable_variables)

    loops = [
        find_inner(each, inner).rounds
        for _, inner in inner_of(step, (4, 20, 3))
        for each in inner.operations
        if each.type in RUNS_OTHERS
    ]
    assert loops == [20, 20]
