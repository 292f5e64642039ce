"""Recognises radio modulations on a chip with 8-bit weights: a float net first, then 4 epochs
with quantised weights and activations, from the weights that the first part has left on disk."""

import os
import tempfile

import numpy as np
import tensorflow as tf

KINDS, LENGTH = 5, 128


def signals(n, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, KINDS, n)
    order = np.array([2, 4, 8, 16, 3])[y][:, None]
    symbol = rng.integers(0, 16, (n, LENGTH // 8)).repeat(8, axis=1) % order
    phase = 2 * np.pi * symbol / order + rng.uniform(0, 6, (n, 1))
    wave = np.exp(1j * phase) + 0.25 * (
        rng.normal(size=phase.shape) + 1j * rng.normal(size=phase.shape)
    )
    return np.stack([wave.real, wave.imag], -1).astype("float32"), y


def quantised(x, bits=8):
    top = tf.stop_gradient(tf.reduce_max(tf.abs(x))) + 1e-6
    levels = 2.0 ** (bits - 1) - 1
    rounded = tf.round(x / top * levels) / levels * top
    return x + tf.stop_gradient(rounded - x)


class Conv(tf.keras.layers.Layer):
    """Convolution of which weights and input may be rounded."""

    def __init__(self, filters, size, is_rounded):
        super().__init__()
        self.filters, self.size, self.is_rounded = filters, size, is_rounded

    def build(self, shape):
        self.kernel = self.add_weight(shape=(self.size, shape[-1], self.filters))
        self.bias = self.add_weight(shape=(self.filters,), initializer="zeros")

    def call(self, x):
        kernel = self.kernel
        if self.is_rounded:
            x, kernel = quantised(x), quantised(tf.convert_to_tensor(kernel))
        return tf.nn.relu(tf.nn.conv1d(x, kernel, 1, "SAME") + self.bias)


def network(is_rounded):
    return tf.keras.Sequential(
        [
            tf.keras.Input((LENGTH, 2)),
            Conv(32, 9, is_rounded),
            tf.keras.layers.MaxPooling1D(2),
            Conv(64, 5, is_rounded),
            tf.keras.layers.MaxPooling1D(2),
            Conv(96, 5, is_rounded),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(KINDS),
        ]
    )


def train(model, rate, epochs):
    model.compile(
        optimizer=tf.keras.optimizers.Adam(rate),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    model.fit(*signals(8000, seed=1), batch_size=64, epochs=epochs, verbose=2)
    return model


def main():
    path = os.path.join(tempfile.mkdtemp(), "float.weights.h5")
    train(network(is_rounded=False), 1e-3, epochs=4).save_weights(path)
    small = network(is_rounded=True)
    small.load_weights(path)
    train(small, 2e-4, epochs=4)
    print("with 8 bits:", small.evaluate(*signals(1500, seed=2), batch_size=500, verbose=0))
    small.save_weights("small.weights.h5")


if __name__ == "__main__":
    main()
