"""Operations of a functional model have the line of the layer that makes them."""

from __future__ import annotations

import inspect

import pytest
from unit.collectors.hooked import hooked_by

from tb_slowdown_plugin.collectors.keras.layer_lines import LayerLines, find_layer

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")

HERE = "tests/unit/collectors/keras/test_layer_lines.py"
SIZES = (3, 5, 7)


@pytest.fixture
def lines(traced):
    collector = LayerLines()
    collector.start(traced.context)
    yield collector
    collector.stop()


def make_dense(units):
    return keras.layers.Dense(units, activation="relu")


LINE = make_dense.__code__.co_firstlineno + 1


def products_in(*calls):
    """Those of a graph in which models are called."""

    @tf.function
    def step(x):
        return [call(x) for call in calls]

    graph = step.get_concrete_function(tf.TensorSpec((2, SIZES[0]))).graph
    return [each for each in graph.get_operations() if each.type == "MatMul"]


def test_each_has_the_line_of_its_layer_also_where_the_model_is_there_twice(lines):
    model = keras.Sequential([keras.Input(SIZES[:1])])
    line = inspect.currentframe().f_lineno + 1
    model.add(keras.layers.Dense(SIZES[1]))
    model.add(make_dense(SIZES[2]))
    once, twice = products_in(model), products_in(model, model)
    found = [find_layer(each) for each in once]
    assert found == [f"Dense ({HERE}:{line})", f"Dense ({HERE}:{LINE})"]
    assert [find_layer(each) for each in twice] == found * 2


def test_a_penalty_on_its_weights_is_of_the_layer_that_has_them(lines):
    class Pair(keras.Model):
        def __init__(self):
            super().__init__()
            self.plain = make_dense(SIZES[1])
            self.small = keras.layers.Dense(SIZES[2], kernel_regularizer="l2")

        def call(self, x):
            return self.small(self.plain(x))

    pair = Pair()
    line = Pair.__init__.__code__.co_firstlineno + 3
    pair(tf.zeros((2, SIZES[0])))

    @tf.function
    def step(x):
        return tf.reduce_sum(pair(x)) + tf.add_n(pair.losses)

    graph = step.get_concrete_function(tf.TensorSpec((2, SIZES[0]))).graph
    (square,) = (each for each in graph.get_operations() if each.type == "Square")
    assert find_layer(square) == f"Dense ({HERE}:{line})"


def test_a_model_within_a_model_has_no_line_of_its_own(lines):
    inside = keras.Sequential([keras.Input(SIZES[:1]), make_dense(SIZES[1])])
    given = keras.Input(SIZES[:1])
    model = keras.Model(given, inside(given))
    assert [find_layer(each) for each in products_in(model)] == [f"Dense ({HERE}:{LINE})"]


def test_what_the_program_calls_itself_has_another_line(lines):
    layer = make_dense(SIZES[1])
    assert [find_layer(each) for each in products_in(layer)] == [""]


def test_layers_of_one_name_are_not_told_apart(lines):
    models = []
    for units in SIZES[1:]:
        named = keras.layers.Dense(units, name="same")
        if units == SIZES[2]:
            named = keras.layers.Dense(units, name="same")  # in another line
        models.append(keras.Sequential([keras.Input(SIZES[:1]), named]))
    assert {find_layer(each) for each in products_in(*models)} == {""}


def test_where_it_may_be_a_layer_of_another_model_nothing_is_told(lines):
    one = keras.Sequential([keras.Input(SIZES[:1])])
    one.add(keras.layers.Dense(SIZES[1], name="same"))
    other = keras.Sequential([keras.Input(SIZES[:1])])
    line = inspect.currentframe().f_lineno + 1
    other.add(keras.layers.Dense(SIZES[2], name="same_1"))
    # Keras has called the first model before, so that its layer is `same_1` in the graph.
    assert [find_layer(each) for each in products_in(one, other)] == ["", f"Dense ({HERE}:{line})"]


def test_afterwards_nothing_is_hooked_or_remembered(traced):
    collector = LayerLines()
    collector.start(traced.context)
    assert hooked_by("layer_lines") == ["keras.src.layers.layer.Layer.__init__"]
    model = keras.Sequential([keras.Input(SIZES[:1]), make_dense(SIZES[1])])
    collector.stop()
    assert hooked_by("layer_lines") == []
    assert {find_layer(each) for each in products_in(model)} == {""}
