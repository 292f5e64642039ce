"""Products of rows that were repeated just before are found; those of other rows are not."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.needless.rows.repeated_rows import find_repeated_rows
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")
L = keras.layers

EXAMPLES, SIDE, UNITS = 4, 12, 48


def find(*layers, shape=(SIDE, SIDE, UNITS)):
    """In a step of these layers behind a 3 x 3 convolution, or a layer, on (EXAMPLES, *shape)."""
    first = L.Conv2D(UNITS, 3, padding="same") if len(shape) > 1 else L.Dense(UNITS)
    model = keras.Sequential([keras.Input(shape), first, *layers])
    kept = []

    @tf.function(input_signature=[tf.TensorSpec([EXAMPLES, *shape])])
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        kept.append(([loss], tape.gradient(loss, model.trainable_variables)))
        return loss

    function = step.get_concrete_function()  # alive while its graph is looked at
    found = find_repeated_rows(StepGraph(*kept[-1]))
    del function
    return found


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear"])
def test_pixels_that_were_repeated_are_multiplied_as_often(interpolation):
    found = find(L.UpSampling2D(4, interpolation=interpolation), L.Conv2D(64, 1))
    assert found.operation.type == "Conv2D"
    assert (found.rows, found.times) == (EXAMPLES * SIDE * SIDE * 16, 16)
    assert 0.1 < found.share < 1


def test_so_are_rows_of_a_context_behind_an_activation():
    found = find(L.RepeatVector(50), L.Activation("relu"), L.Dense(64), shape=(UNITS,))
    assert (found.operation.type, found.rows, found.times) == ("MatMul", EXAMPLES * 50, 50)


@pytest.mark.parametrize(
    "layers",
    [
        (L.Conv2D(64, 1), L.UpSampling2D(4)),
        (L.UpSampling2D(4), L.Conv2D(8, 3, padding="same")),
    ],
    ids=["repeated later", "of several pixels"],
)
def test_other_products_are_not_told(layers):
    assert find(*layers) is None


def test_rows_that_got_something_of_their_own_are_others():
    class Positions(L.Layer):
        def build(self, shape):
            self.table = self.add_weight(shape=shape[1:])

        def call(self, x):
            return x + tf.tile(self.table[None], [EXAMPLES, 1, 1])

    assert find(L.RepeatVector(50), Positions(), L.Dense(64), shape=(UNITS,)) is None
