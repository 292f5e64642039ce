"""Loops that a tape goes back through more than once for one target are found, and counted."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work.gradients.repeated_loops import (
    share_of_repeated_loops,
)
from tb_slowdown_plugin.collectors.graph_work.gradients.summed_gradients import OneGradient

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def share_of(*, layer, calls):
    """Of calls for groups of variables of two layers, in a graph."""
    first, last = layer, keras.layers.Dense(2)
    first.build((8, 12, 6))
    last.build((8, 12, 64))
    variables = [each.value for layer in (first, last) for each in layer.trainable_variables]
    kept = []

    @tf.function
    def step(x):
        with tf.GradientTape(persistent=True) as tape:
            loss = tf.reduce_sum(last(first(x)) ** 2)
        groups = [variables] if calls == 1 else [variables[:1], variables[1:]]
        kept.extend(OneGradient([loss], tape.gradient(loss, group)) for group in groups)
        return [each.gradients for each in kept]

    function = step.get_concrete_function(tf.TensorSpec((8, 12, 6)))
    share = share_of_repeated_loops(kept)
    del function
    return share


def test_a_second_call_goes_back_through_a_recurrent_layer_again():
    # Once forward and twice back, which takes twice as many products as forward: 2 of 5.
    assert share_of(layer=keras.layers.GRU(64, return_sequences=True), calls=2) == pytest.approx(
        0.4, abs=0.07
    )


def test_tensorflow_merges_what_calls_have_in_common_of_other_layers():
    assert share_of(layer=keras.layers.Dense(64), calls=2) == 0


def test_one_call_goes_through_a_layer_once():
    assert share_of(layer=keras.layers.GRU(64, return_sequences=True), calls=1) == 0
