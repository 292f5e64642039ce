"""WGAN-GP on little pictures of ammonites (procedurally drawn)."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

SIDE, NOISE, BATCH = 28, 32, 32
CRITIC_PER_GEN = 4


def ammonites(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1) * 2 - 1
    r = np.hypot(yy, xx) + 1e-6
    a = np.arctan2(yy, xx)
    pics = np.empty((n, SIDE, SIDE, 1), "float32")
    for i in range(n):
        whorl = rng.uniform(3, 5)
        turn = rng.uniform(0, 2 * np.pi)
        ribs = rng.integers(8, 16)
        shell = np.cos(whorl * np.log(r) * 1.8 - a + turn) * (r < rng.uniform(0.8, 0.95))
        shell += 0.25 * np.cos(ribs * a) * (r < 0.9)
        pics[i, ..., 0] = np.tanh(1.5 * shell)
    return pics


def make_generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            layers.Dense(7 * 7 * 32, activation="relu"),
            layers.Reshape((7, 7, 32)),
            layers.Conv2DTranspose(24, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(16, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    return keras.Sequential(
        [
            keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(16, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


class Pair:
    def __init__(self):
        self.gen, self.critic = make_generator(), make_critic()
        self.gopt = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)
        self.copt = keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)
        self.gopt.build(self.gen.trainable_variables)
        self.copt.build(self.critic.trainable_variables)

    @tf.function
    def critic_step(self, real):
        fake = self.gen(tf.random.normal([BATCH, NOISE]), training=True)
        mix = tf.random.uniform([BATCH, 1, 1, 1])
        between = mix * real + (1 - mix) * fake
        with tf.GradientTape() as outer:
            with tf.GradientTape(watch_accessed_variables=False) as inner:
                inner.watch(between)
                score = self.critic(between, training=True)
            slope = inner.gradient(score, between)
            norm = tf.sqrt(tf.reduce_sum(slope**2, axis=[1, 2, 3]) + 1e-8)
            gap = tf.reduce_mean(self.critic(fake, training=True)) - tf.reduce_mean(
                self.critic(real, training=True)
            )
            loss = gap + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
        grads = outer.gradient(loss, self.critic.trainable_variables)
        self.copt.apply_gradients(zip(grads, self.critic.trainable_variables))
        return -gap

    @tf.function
    def generator_step(self):
        with tf.GradientTape() as tape:
            fake = self.gen(tf.random.normal([BATCH, NOISE]), training=True)
            loss = -tf.reduce_mean(self.critic(fake, training=True))
        grads = tape.gradient(loss, self.gen.trainable_variables)
        self.gopt.apply_gradients(zip(grads, self.gen.trainable_variables))
        return loss


def contact_sheet(pics, path):
    rows = [np.concatenate(list(pics[i : i + 6, ..., 0]), axis=1) for i in range(0, 36, 6)]
    sheet = ((np.concatenate(rows, axis=0) + 1) * 127.5).astype("uint8")[..., None]
    tf.io.write_file(path, tf.io.encode_png(sheet))


def main(rounds=420):
    keras.utils.set_random_seed(9)
    real = ammonites(3000)
    feed = iter(
        tf.data.Dataset.from_tensor_slices(real)
        .cache()
        .shuffle(3000)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    pair = Pair()
    fixed_noise = tf.random.normal([36, NOISE])
    with tempfile.TemporaryDirectory() as out:
        for r in range(1, rounds + 1):
            for _ in range(CRITIC_PER_GEN):
                gap = pair.critic_step(next(feed))
            gloss = pair.generator_step()
            if r % 60 == 0:
                contact_sheet(
                    pair.gen(fixed_noise).numpy(), os.path.join(out, f"sheet_{r:04d}.png")
                )
                print(f"round {r:4d}  critic gap {float(gap):.3f}  generator {float(gloss):.3f}")
        pair.gen.save_weights(os.path.join(out, "generator.weights.h5"))
    sample = pair.gen(tf.random.normal([500, NOISE])).numpy()
    print(
        "pixel mean/std real %.3f/%.3f generated %.3f/%.3f"
        % (real.mean(), real.std(), sample.mean(), sample.std())
    )


if __name__ == "__main__":
    main()
