"""DCGAN that draws runes; both nets live in one Keras model with its own train_step."""

import os

import keras
import numpy as np
import tensorflow as tf
from keras import layers

LATENT = 24


def runes(n, seed=61):
    rng = np.random.default_rng(seed)
    x = -np.ones((n, 28, 28, 1), np.float32)
    for k in range(n):
        col = rng.integers(8, 20)
        x[k, 3:25, col : col + 2] = 1.0
        for row in rng.integers(4, 20, rng.integers(1, 4)):
            for step in range(7):
                x[k, row + step // 2, (col + step) % 28] = 1.0
    return x


def make_generator():
    return keras.Sequential(
        [
            layers.Input((LATENT,)),
            layers.Dense(7 * 7 * 32, use_bias=False),
            layers.BatchNormalization(),
            layers.LeakyReLU(),
            layers.Reshape((7, 7, 32)),
            layers.Conv2DTranspose(24, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(1, 4, strides=2, padding="same", activation="tanh"),
        ]
    )


def make_discriminator():
    return keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(16, 4, strides=2, padding="same", activation="leaky_relu"),
            layers.Conv2D(32, 4, strides=2, padding="same", activation="leaky_relu"),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(1),
        ]
    )


class GAN(keras.Model):
    def __init__(self, generator, discriminator):
        super().__init__()
        self.generator, self.discriminator = generator, discriminator
        self.g_loss, self.d_loss = keras.metrics.Mean("g_loss"), keras.metrics.Mean("d_loss")

    def compile(self, g_optimizer, d_optimizer):
        super().compile()
        self.g_optimizer, self.d_optimizer = g_optimizer, d_optimizer
        self.cross = keras.losses.BinaryCrossentropy(from_logits=True)

    @property
    def metrics(self):
        return [self.g_loss, self.d_loss]

    def train_step(self, real):
        noise = tf.random.normal((tf.shape(real)[0], LATENT))
        with tf.GradientTape() as d_tape, tf.GradientTape() as g_tape:
            fake = self.generator(noise, training=True)
            on_real = self.discriminator(real, training=True)
            on_fake = self.discriminator(fake, training=True)
            d_loss = self.cross(0.9 * tf.ones_like(on_real), on_real)
            d_loss += self.cross(tf.zeros_like(on_fake), on_fake)
            g_loss = self.cross(tf.ones_like(on_fake), on_fake)
        for tape, loss, net, optimizer in (
            (d_tape, d_loss, self.discriminator, self.d_optimizer),
            (g_tape, g_loss, self.generator, self.g_optimizer),
        ):
            optimizer.apply(tape.gradient(loss, net.trainable_weights), net.trainable_weights)
        self.g_loss.update_state(g_loss)
        self.d_loss.update_state(d_loss)
        return {m.name: m.result() for m in self.metrics}


class Sheet(keras.callbacks.Callback):
    def __init__(self, folder, n=6):
        super().__init__()
        self.noise, self.n, self.folder = tf.random.normal((n * n, LATENT)), n, folder
        os.makedirs(folder, exist_ok=True)

    def on_epoch_end(self, epoch, logs=None):
        drawn = self.model.generator(self.noise, training=False).numpy() * 0.5 + 0.5
        rows = np.concatenate(np.split(drawn, self.n), axis=2).reshape(28, -1)
        keras.utils.save_img(f"{self.folder}/{epoch:03d}.png", rows[..., None])


gan = GAN(make_generator(), make_discriminator())
gan.compile(keras.optimizers.Adam(2e-4, 0.5), keras.optimizers.Adam(2e-4, 0.5))
gan.fit(runes(3200), batch_size=64, epochs=26, callbacks=[Sheet("runes")], verbose=2)
