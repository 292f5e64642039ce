"""Generate textile weaves with a critic that is trained more often than the generator."""

import numpy as np
import tensorflow as tf
import keras
from keras import layers

SIDE = 32
NOISE = 48
BATCH = 32
CRITIC_PER_GEN = 5
ROUNDS = 125


def weaves(count, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE]
    out = np.empty((count, SIDE, SIDE, 1), np.float32)
    for i in range(count):
        p, q, shift = rng.integers(3, 8), rng.integers(3, 8), rng.integers(0, 8)
        twill = ((xx + shift + yy * rng.integers(0, 3)) // p + yy // q) % 2
        out[i, ..., 0] = 1.6 * twill - 0.8 + rng.normal(0, 0.08, (SIDE, SIDE))
    return out


def make_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            layers.Dense(8 * 8 * 48),
            layers.Reshape((8, 8, 48)),
            layers.LeakyReLU(0.2),
            layers.UpSampling2D(),
            layers.Conv2D(48, 3, padding="same"),
            layers.BatchNormalization(),
            layers.LeakyReLU(0.2),
            layers.UpSampling2D(),
            layers.Conv2D(24, 3, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(1, 5, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(24, 5, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(48, 5, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 3, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


class Loom:
    def __init__(self):
        self.generator, self.critic = make_generator(), make_critic()
        self.g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.c_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.g_opt.build(self.generator.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)

    @tf.function
    def critic_step(self, real):
        fake = self.generator(tf.random.normal([BATCH, NOISE]), training=True)
        mix = tf.random.uniform([BATCH, 1, 1, 1])
        between = mix * real + (1 - mix) * fake
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = self.critic(between, training=True)
            slope = tf.sqrt(
                tf.reduce_sum(tf.square(inner.gradient(score, between)), [1, 2, 3]) + 1e-8
            )
            penalty = tf.reduce_mean(tf.square(slope - 1.0))
            gap = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(
                self.critic(real, training=True)
            )
            loss = gap + 10.0 * penalty
        self.c_opt.apply(tape.gradient(loss, self.critic.trainable_variables))
        return gap

    @tf.function
    def generator_step(self):
        with tf.GradientTape() as tape:
            fake = self.generator(tf.random.normal([2 * BATCH, NOISE]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        self.g_opt.apply(tape.gradient(loss, self.generator.trainable_variables))
        return loss

    @tf.function
    def samples(self, noise):
        return self.generator(noise, training=False)


def spectrum_distance(a, b):
    fa = np.abs(np.fft.rfft2(a[..., 0])).mean(0)
    fb = np.abs(np.fft.rfft2(b[..., 0])).mean(0)
    return float(np.abs(fa - fb).mean())


def main():
    keras.utils.set_random_seed(12)
    rng = np.random.default_rng(12)
    cloth = weaves(4000, 12)
    loom = Loom()
    fixed = tf.random.normal([256, NOISE])
    for i in range(1, ROUNDS + 1):
        for _ in range(CRITIC_PER_GEN):
            rows = rng.integers(0, len(cloth), BATCH)
            gap = loom.critic_step(tf.constant(cloth[rows]))
        loss = loom.generator_step()
        if i % 20 == 0:
            d = spectrum_distance(loom.samples(fixed).numpy(), cloth[:256])
            print(
                f"round {i}: gap {float(gap):.3f} gen {float(loss):.3f} spectrum {d:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
