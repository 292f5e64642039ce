"""Wasserstein GAN with gradient penalty that draws small galaxy-like images."""

import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

SIDE, LATENT, BATCH = 32, 48, 32
N_CRITIC = 5
ITERATIONS = 1200
PENALTY = 10.0


def galaxies(n, seed=0):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[-1 : 1 : SIDE * 1j, -1 : 1 : SIDE * 1j]
    out = np.empty((n, SIDE, SIDE, 1), np.float32)
    for i in range(n):
        a = rng.uniform(0, np.pi)
        q, s = rng.uniform(0.3, 1.0), rng.uniform(0.15, 0.4)
        u = xx * np.cos(a) + yy * np.sin(a)
        v = (yy * np.cos(a) - xx * np.sin(a)) / q
        arms = 1 + 0.4 * np.cos(2 * np.arctan2(v, u) + 8 * np.hypot(u, v))
        out[i, ..., 0] = 2 * np.exp(-np.hypot(u, v) / s) * arms - 1
    return np.clip(out, -1, 1)


def make_generator():
    return tf.keras.Sequential(
        [
            tf.keras.Input((LATENT,)),
            layers.Dense(8 * 8 * 48, activation="relu"),
            layers.Reshape((8, 8, 48)),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2DTranspose(24, 4, strides=2, padding="same", activation="relu"),
            layers.Conv2D(1, 3, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    return tf.keras.Sequential(
        [
            tf.keras.Input((SIDE, SIDE, 1)),
            layers.Conv2D(24, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(48, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


gen, critic = make_generator(), make_critic()
gen_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)
critic_opt = tf.keras.optimizers.Adam(2e-4, beta_1=0.5, beta_2=0.9)


def gradient_penalty(real, fake):
    mix = tf.random.uniform([BATCH, 1, 1, 1])
    between = mix * real + (1 - mix) * fake
    with tf.GradientTape() as inner:
        inner.watch(between)
        score = critic(between)
    slope = tf.norm(tf.reshape(inner.gradient(score, between), [BATCH, -1]), axis=1)
    return tf.reduce_mean(tf.square(slope - 1.0))


@tf.function
def critic_step(real):
    fake = gen(tf.random.normal([BATCH, LATENT]))
    with tf.GradientTape() as tape:
        distance = tf.reduce_mean(critic(real)) - tf.reduce_mean(critic(fake))
        loss = PENALTY * gradient_penalty(real, fake) - distance
    grads = tape.gradient(loss, critic.trainable_variables)
    critic_opt.apply_gradients(zip(grads, critic.trainable_variables))
    return distance


@tf.function
def generator_step():
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(critic(gen(tf.random.normal([2 * BATCH, LATENT]))))
    grads = tape.gradient(loss, gen.trainable_variables)
    gen_opt.apply_gradients(zip(grads, gen.trainable_variables))
    return loss


def save_samples(z, path):
    grid = gen(z).numpy().reshape(4, 4, SIDE, SIDE).transpose(0, 2, 1, 3)
    grid = np.uint8(127.5 * (grid.reshape(4 * SIDE, 4 * SIDE, 1) + 1))
    tf.io.write_file(path, tf.io.encode_png(grid))


def main():
    tf.keras.utils.set_random_seed(17)
    folder = tempfile.mkdtemp()
    fixed_z = tf.random.normal([16, LATENT])
    data = (
        tf.data.Dataset.from_tensor_slices(galaxies(4096))
        .shuffle(4096, seed=17)
        .repeat()
        .batch(BATCH, drop_remainder=True)
        .prefetch(4)
    )
    distances = []
    for it, real in enumerate(data.take(ITERATIONS), start=1):
        distances.append(critic_step(real))
        if it % N_CRITIC == 0:
            generator_step()
        if it % 100 == 0:
            print(f"iteration {it:4d}  distance {np.mean([float(d) for d in distances]):.3f}")
            distances.clear()
        if it % 400 == 0:
            save_samples(fixed_z, os.path.join(folder, f"galaxies_{it:05d}.png"))


if __name__ == "__main__":
    main()
