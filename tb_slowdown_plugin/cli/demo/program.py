"""A small program with one mistake in it, recorded by `tbslow demo`.

A decaying learning rate is passed to a `tf.function` as a Python number: each new
value makes TensorFlow build the graph again.
"""

from __future__ import annotations

import os
import sys
from typing import Final

STEPS: Final = 300
NEW_RATE_EVERY: Final = 5


def record(logdir: str, steps: int) -> None:
    """Trains for so many steps, and prints the number of each when it is done."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # else it fills the terminal
    import tensorflow as tf

    import tb_slowdown_plugin as tbslow

    features = tf.random.normal([2048, 64])
    labels = tf.random.normal([2048, 1])
    dataset = tf.data.Dataset.from_tensor_slices((features, labels)).repeat().batch(128)
    weights = [tf.Variable(tf.random.normal(shape) * 0.1) for shape in ([64, 128], [128, 1])]

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(x: tf.Tensor, y: tf.Tensor, learning_rate: float) -> tf.Tensor:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.nn.relu(x @ weights[0]) @ weights[1] - y) ** 2)
        for weight, gradient in zip(weights, tape.gradient(loss, weights), strict=True):
            weight.assign_sub(learning_rate * gradient)
        return loss

    with tbslow.start(logdir):
        for step, (x, y) in enumerate(tbslow.data(dataset.take(steps))):
            learning_rate = 0.05 * 0.97 ** (step // NEW_RATE_EVERY)
            with tbslow.summary.step():
                train_step(x, y, learning_rate)
            sys.stdout.write(f"{step + 1}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    record(sys.argv[1], int(sys.argv[2]))
