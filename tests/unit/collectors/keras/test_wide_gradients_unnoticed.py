"""A program gets the gradients that it asks for, and updates what it updates, as without us."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.keras.wide_gradients import WideGradients

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")
keras = pytest.importorskip("keras")


def of_a_changing_shape(shape):
    def train():
        variable = tf.Variable(tf.ones([3, 2]), shape=tf.TensorShape(shape))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable**2)
        return tape.gradient(loss, [variable])[0].shape

    return train


def in_a_function(do):
    def train():
        variable = tf.Variable(tf.ones([3]))
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build([variable])
        tf.function(lambda: do(variable, optimizer))()
        return variable.shape

    return train


def apply(gradient):
    return lambda variable, optimizer: optimizer.apply([gradient], [variable])


def ask_of_a_constant(constant):
    def ask(variable, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(variable**2)
        optimizer.apply(tape.gradient([loss, constant], [variable]), [variable])

    return ask


@pytest.mark.parametrize(
    "train",
    [
        of_a_changing_shape(None),
        of_a_changing_shape([None, 2]),
        in_a_function(apply(tf.ones([3]))),
        in_a_function(apply(np.ones([3], "f"))),
        in_a_function(ask_of_a_constant(tf.constant(1.0))),
    ],
    ids=["any shape", "any rows", "eager gradient", "NumPy's gradient", "eager target"],
)
def test_whatever_a_program_asks_for_and_applies_it_gets(recording, train):
    plain = train()
    collector = WideGradients()
    collector.start(recording.context)
    try:
        assert train() == plain
        collector.look_once()
        assert collector.read() == {}
    finally:
        collector.stop()
    assert recording.failures == []
