"""Spectrally normalised GAN for heart beats, hinge loss, three critics to a generator."""

import argparse

import numpy as np
import tensorflow as tf

L = tf.keras.layers
LENGTH, NOISE = 128, 32


def beats(n, rng):
    t = np.linspace(-1, 1, LENGTH)[None]
    wave = 0
    for where, wide, high in (
        (-0.5, 0.1, 0.2),
        (-0.05, 0.03, -0.2),
        (0, 0.03, 1.0),
        (0.4, 0.15, 0.3),
    ):
        where = where + rng.normal(0, 0.03, (n, 1))
        wave = wave + high * rng.uniform(0.8, 1.2, (n, 1)) * np.exp(-(((t - where) / wide) ** 2))
    return (wave + rng.normal(0, 0.01, (n, LENGTH))).astype("float32")[..., None]


def make_generator():
    return tf.keras.Sequential(
        [
            tf.keras.Input((NOISE,)),
            L.Dense(16 * 96, activation="relu"),
            L.Reshape((16, 96)),
            L.Conv1DTranspose(64, 8, strides=2, padding="same", activation="relu"),
            L.Conv1DTranspose(48, 8, strides=2, padding="same", activation="relu"),
            L.Conv1DTranspose(32, 8, strides=2, padding="same", activation="relu"),
            L.Conv1D(1, 5, padding="same"),
        ]
    )


def make_critic():
    return tf.keras.Sequential(
        [
            tf.keras.Input((LENGTH, 1)),
            L.SpectralNormalization(
                L.Conv1D(32, 8, strides=2, padding="same", activation="leaky_relu")
            ),
            L.SpectralNormalization(
                L.Conv1D(64, 8, strides=2, padding="same", activation="leaky_relu")
            ),
            L.SpectralNormalization(
                L.Conv1D(96, 8, strides=2, padding="same", activation="leaky_relu")
            ),
            L.Flatten(),
            L.Dense(1),
        ]
    )


class GAN:
    def __init__(self, batch):
        self.batch = batch
        self.g, self.c = make_generator(), make_critic()
        self.g_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.0)
        self.c_opt = tf.keras.optimizers.Adam(4e-4, beta_1=0.0)

    @tf.function
    def step_critic(self, real):
        fake = self.g(tf.random.normal([self.batch, NOISE]), training=True)
        with tf.GradientTape() as tape:
            on_real, on_fake = self.c(real, training=True), self.c(fake, training=True)
            loss = tf.reduce_mean(tf.nn.relu(1 - on_real)) + tf.reduce_mean(tf.nn.relu(1 + on_fake))
        w = self.c.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return loss

    @tf.function
    def step_generator(self):
        with tf.GradientTape() as tape:
            fake = self.g(tf.random.normal([self.batch, NOISE]), training=True)
            loss = -tf.reduce_mean(self.c(fake, training=False))
        w = self.g.trainable_variables
        self.g_opt.apply_gradients(zip(tape.gradient(loss, w), w))
        return loss


def sliced_distance(a, b, rng, directions=32):
    way = rng.normal(size=(LENGTH, directions))
    way /= np.linalg.norm(way, axis=0)
    return np.abs(np.sort(a[..., 0] @ way, 0) - np.sort(b[..., 0] @ way, 0)).mean()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("-n", "--iterations", type=int, default=170)
    p.add_argument("-b", "--batch", type=int, default=64)
    a = p.parse_args()
    rng = np.random.default_rng(3)
    data = beats(8000, rng)
    gan = GAN(a.batch)
    for i in range(1, a.iterations + 1):
        for _ in range(3):
            c_loss = gan.step_critic(tf.constant(data[rng.integers(0, len(data), a.batch)]))
        g_loss = gan.step_generator()
        if i % 50 == 0:
            fake = gan.g(tf.random.normal([256, NOISE])).numpy()
            far = sliced_distance(fake, data[:256], rng)
            print(f"{i}: critic {c_loss:.3f} generator {g_loss:.3f} distance {far:.3f}")
    gan.g.save_weights("generator.weights.h5")
