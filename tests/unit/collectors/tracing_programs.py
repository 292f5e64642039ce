"""Small programs that are traced, and what a recording tells of them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.records.types import Trace

tf = pytest.importorskip("tensorflow")


class Config:
    pass


def make(**options):
    """A new function with new code, so that tests know nothing of each other."""
    namespace = {"tf": tf}
    make.count += 1
    options.setdefault("autograph", False)  # it would look for the source
    source = (
        "def train_step(x, training=False, mask=None, cfg=None, *more): return tf.constant(1.0)"
    )
    exec(compile(source, f"<test {make.count}>", "exec"), namespace)
    return tf.function(namespace["train_step"], **options)


make.count = 0


def traces(recording) -> list[Trace]:
    return recording.of(Trace)


def accounts(recording) -> dict[str, int]:
    return {name: ns for name, ns in recording.stopwatch.take().items() if ns}


def one_hot(count: int):
    return tf.ones((count, 10))


def program():
    """Results of a small training, with variables, gradients, nesting and a retrace."""
    tf.random.set_seed(1)
    weight = tf.Variable(tf.random.stateless_normal((4, 2), (1, 2)))

    @tf.function
    def forward(x):
        return tf.tanh(x @ weight)

    @tf.function
    def step(x, rate):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(forward(x) ** 2)
        gradient = tape.gradient(loss, weight)
        weight.assign_sub(rate * gradient)
        return loss

    losses = [
        float(step(tf.random.stateless_normal((count, 4), (3, count)), rate))
        for count, rate in [(8, 0.1), (8, 0.1), (6, 0.1), (8, 0.2)]
    ]
    return losses, weight.numpy().tolist(), step.experimental_get_tracing_count()
