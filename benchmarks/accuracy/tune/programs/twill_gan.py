"""Generates woven-cloth textures with a small adversarial pair.

The critic takes several steps for each step of the generator; samples are
compared with held-out cloth by a sliced distance now and then.
"""

import os
import tempfile
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIZE = 32
NOISE = 48
BATCH = 32
CRITIC_STEPS = 4
ROUNDS = 272


def make_cloth(count, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:SIZE, 0:SIZE] / SIZE
    out = np.empty((count, SIZE, SIZE, 1), np.float32)
    for i in range(count):
        fx, fy = rng.integers(2, 7, size=2)
        turn = rng.uniform(-0.3, 0.3)
        u = xx * np.cos(turn) - yy * np.sin(turn)
        v = xx * np.sin(turn) + yy * np.cos(turn)
        warp = np.sin(2 * np.pi * fx * u + rng.uniform(0, 6))
        weft = np.sin(2 * np.pi * fy * v + rng.uniform(0, 6))
        over = (warp * weft) > 0
        out[i, ..., 0] = np.where(over, np.abs(warp), -np.abs(weft))
    return out + rng.normal(size=out.shape).astype(np.float32) * 0.03


def generator():
    return keras.Sequential(
        [
            keras.Input((NOISE,)),
            layers.Dense(4 * 4 * 64),
            layers.Reshape((4, 4, 64)),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(48, 4, 2, "same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(32, 4, 2, "same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(1, 4, 2, "same", activation="tanh"),
        ]
    )


def critic():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 1)),
            layers.Conv2D(32, 4, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(48, 4, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Conv2D(64, 4, 2, "same"),
            layers.LeakyReLU(0.2),
            layers.Flatten(),
            layers.Dense(1),
        ]
    )


class Pair:
    def __init__(self):
        self.g, self.c = generator(), critic()
        self.g_opt = keras.optimizers.Adam(3e-4, beta_1=0.0, beta_2=0.9)
        self.c_opt = keras.optimizers.Adam(3e-4, beta_1=0.0, beta_2=0.9)
        self.g_opt.build(self.g.trainable_variables)
        self.c_opt.build(self.c.trainable_variables)

    @tf.function
    def critic_step(self, real):
        fake = self.g(tf.random.normal([BATCH, NOISE]), training=True)
        mix = tf.random.uniform([BATCH, 1, 1, 1])
        between = mix * real + (1.0 - mix) * fake
        with tf.GradientTape() as tape:
            with tf.GradientTape() as inner:
                inner.watch(between)
                score = self.c(between, training=True)
            slope = inner.gradient(score, between)
            norm = tf.sqrt(tf.reduce_sum(slope**2, [1, 2, 3]) + 1e-8)
            loss = (
                tf.reduce_mean(self.c(fake, training=True))
                - tf.reduce_mean(self.c(real, training=True))
                + 10.0 * tf.reduce_mean((norm - 1.0) ** 2)
            )
        grads = tape.gradient(loss, self.c.trainable_variables)
        self.c_opt.apply_gradients(zip(grads, self.c.trainable_variables))
        return loss

    @tf.function
    def generator_step(self):
        with tf.GradientTape() as tape:
            fake = self.g(tf.random.normal([BATCH, NOISE]), training=True)
            loss = -tf.reduce_mean(self.c(fake, training=True))
        grads = tape.gradient(loss, self.g.trainable_variables)
        self.g_opt.apply_gradients(zip(grads, self.g.trainable_variables))
        return loss

    @tf.function
    def sample(self, noise):
        return self.g(noise, training=False)


def sliced_distance(a, b, rng, slices=128):
    lines = rng.normal(size=(SIZE * SIZE, slices)).astype(np.float32)
    lines /= np.linalg.norm(lines, axis=0)
    pa = np.sort(a.reshape(len(a), -1) @ lines, axis=0)
    pb = np.sort(b.reshape(len(b), -1) @ lines, axis=0)
    return float(np.abs(pa - pb).mean())


def main():
    keras.utils.set_random_seed(23)
    rng = np.random.default_rng(24)
    cloth = make_cloth(3000, seed=1)
    held = make_cloth(512, seed=2)
    feed = iter(
        tf.data.Dataset.from_tensor_slices(cloth)
        .shuffle(3000, seed=3)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    pair = Pair()
    noise = tf.constant(rng.normal(size=(512, NOISE)).astype(np.float32))
    began = time.time()
    with tempfile.TemporaryDirectory() as folder:
        saver = tf.train.CheckpointManager(
            tf.train.Checkpoint(g=pair.g, c=pair.c), os.path.join(folder, "weave"), max_to_keep=2
        )
        for n in range(1, ROUNDS + 1):
            for _ in range(CRITIC_STEPS):
                c_loss = pair.critic_step(next(feed))
            g_loss = pair.generator_step()
            if n % 34 == 0:
                made = pair.sample(noise).numpy()
                gap = sliced_distance(made, held, rng)
                saver.save()
                print(
                    f"round {n:4d}  critic {float(c_loss):7.3f}  "
                    f"generator {float(g_loss):7.3f}  distance {gap:.3f}  "
                    f"{time.time() - began:.1f}s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
