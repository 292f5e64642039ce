"""A Keras fit whose steps can be made slower by a known share: one run for one process.

    python benchmarks/comparison/program.py LOGDIR PRODUCTS

A step is little but products of matrices: 50 take about 20 ms, 12 more make it a fifth longer.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import tensorflow as tf

import tbslow

STEPS = 250
SIZE = 256


class Products(keras.layers.Layer):
    """Multiplies a matrix by itself so many times, one after another."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.count = count

    def call(self, rows: tf.Tensor) -> tf.Tensor:
        """Rows (batch, features), handed on unchanged but for a term that is nearly zero."""
        matrix = tf.eye(SIZE) + 1e-6 * tf.random.normal([SIZE, SIZE])
        for _ in range(self.count):
            matrix = matrix @ matrix
        return rows + 1e-9 * tf.stop_gradient(matrix[0, 0])


def train(logdir: str, products: int) -> None:
    """Trains for five seconds, monitored."""
    # One thread, so that the time does not depend on which cores are free.
    tf.config.threading.set_intra_op_parallelism_threads(1)
    keras.utils.set_random_seed(1)
    rows = tf.random.normal([STEPS * 8, 16])
    data = tf.data.Dataset.from_tensor_slices((rows, rows[:, :1])).batch(8)
    net = keras.Sequential([keras.Input([16]), Products(products), keras.layers.Dense(1)])
    net.compile("sgd", "mse", jit_compile=False)
    net.fit(data, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(logdir)])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("logdir")
    parser.add_argument("products", type=int)
    options = parser.parse_args()
    train(options.logdir, options.products)
