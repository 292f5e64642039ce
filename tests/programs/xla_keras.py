"""Keras with `jit_compile=True`, and batches that are as long as their longest row."""

import injector
import numpy as np
import ordinary  # noqa: F401, one thread, fixed seeds
import tensorflow as tf

import tbslow

STEPS = 300
LONGEST = 96


def batches(healthy):
    random = np.random.default_rng(5)
    for i in range(STEPS):
        length = LONGEST if healthy or i < 50 else 32 + i // 5
        x = random.normal(size=(16, length, 32)).astype(np.float32)
        yield x, x.mean((1, 2), keepdims=False)[:, None]


def main(logdir, truth, healthy):
    spec = (tf.TensorSpec([16, None, 32]), tf.TensorSpec([16, 1]))
    rows = tf.data.Dataset.from_generator(lambda: batches(healthy), output_signature=spec)
    net = tf.keras.Sequential(
        [
            tf.keras.layers.Conv1D(64, 3, padding="same", activation="relu"),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(1),
        ]
    )
    net.compile("sgd", "mse", jit_compile=True)
    truth.is_unknown()
    net.fit(rows, verbose=0, callbacks=[tbslow.keras.SlowdownCallback(logdir)])


if __name__ == "__main__":
    injector.run("xla_compilation", main)
