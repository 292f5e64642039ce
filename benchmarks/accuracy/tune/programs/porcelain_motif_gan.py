"""GAN for blue-and-white porcelain motifs; the critic also sees fakes from earlier in training."""

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

PIX, Z, BATCH = 32, 48, 48


def motifs(n, rng):
    yy, xx = np.mgrid[0:PIX, 0:PIX] / PIX - 0.5
    r, th = np.hypot(xx, yy), np.arctan2(yy, xx)
    k = rng.integers(3, 9, (n, 1, 1))
    ph = rng.uniform(0, 6.28, (n, 1, 1))
    petal = np.cos(k * th[None] + ph) * 0.12 + 0.3 > r[None]
    img = np.ones((n, PIX, PIX, 3), np.float32)
    img[..., 0] -= petal * 1.6
    img[..., 1] -= petal * rng.uniform(0.9, 1.3, (n, 1, 1))
    img += rng.normal(scale=0.05, size=img.shape)
    return np.clip(img, -1, 1).astype(np.float32)


def build_generator():
    return keras.Sequential(
        [
            keras.Input((Z,)),
            layers.Dense(8 * 8 * 48),
            layers.LeakyReLU(),
            layers.Reshape((8, 8, 48)),
            layers.Conv2DTranspose(32, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Conv2DTranspose(24, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Conv2D(3, 3, padding="same", activation="tanh"),
        ]
    )


def build_critic():
    return keras.Sequential(
        [
            keras.Input((PIX, PIX, 3)),
            layers.Conv2D(24, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Conv2D(48, 4, 2, "same"),
            layers.LeakyReLU(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(1),
        ]
    )


class FakeHistory:
    """Mixes fresh fakes with fakes drawn from the past."""

    def __init__(self):
        self.bank = None

    def mix(self, fresh):
        if self.bank is None:
            self.bank = fresh
            return fresh
        self.bank = tf.concat([self.bank, fresh], axis=0)
        n = fresh.shape[0] // 2
        idx = tf.random.uniform([n], 0, self.bank.shape[0], tf.int32)
        return tf.concat([fresh[n:], tf.gather(self.bank, idx)], axis=0)


class MotifGAN:
    def __init__(self):
        self.g, self.d = build_generator(), build_critic()
        self.g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.d_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.history = FakeHistory()
        self.bce = keras.losses.BinaryCrossentropy(from_logits=True)

    @tf.function
    def fakes(self):
        return self.g(tf.random.normal([BATCH, Z]), training=True)

    @tf.function
    def critic_step(self, real, fake):
        with tf.GradientTape() as tape:
            lr, lf = self.d(real, training=True), self.d(fake, training=True)
            loss = self.bce(tf.ones_like(lr) * 0.9, lr) + self.bce(tf.zeros_like(lf), lf)
        grads = tape.gradient(loss, self.d.trainable_variables)
        self.d_opt.apply_gradients(zip(grads, self.d.trainable_variables))
        return loss

    @tf.function
    def generator_step(self):
        with tf.GradientTape() as tape:
            out = self.d(self.g(tf.random.normal([BATCH, Z]), training=True), training=True)
            loss = self.bce(tf.ones_like(out), out)
        grads = tape.gradient(loss, self.g.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.g.trainable_variables))
        return loss

    def train(self, dataset, steps):
        for i, real in enumerate(dataset.take(steps)):
            d_loss = self.critic_step(real, self.history.mix(self.fakes()))
            g_loss = self.generator_step()
            if i % 60 == 0:
                print(f"{i:4d} critic {float(d_loss):.3f} generator {float(g_loss):.3f}")


if __name__ == "__main__":
    keras.utils.set_random_seed(17)
    imgs = motifs(2500, np.random.default_rng(17))
    data = tf.data.Dataset.from_tensor_slices(imgs).shuffle(2500).repeat().batch(BATCH).prefetch(2)
    MotifGAN().train(data, steps=420)
