"""GAN for painted saddle blankets of carousel horses.

python carousel_horse_gan.py --steps 200 --batch 48
"""

import argparse
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def parse():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--steps", type=int, default=170)
    p.add_argument("--batch", type=int, default=48)
    p.add_argument("--latent", type=int, default=48)
    p.add_argument("--blankets", type=int, default=7000)
    p.add_argument("--lr", type=float, default=2e-4)
    p.add_argument("--seed", type=int, default=17)
    p.add_argument("--log-every", type=int, default=40)
    return p.parse_args()


SIZE = 32


def paint_blankets(path, n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[-1 : 1 : SIZE * 1j, -1 : 1 : SIZE * 1j]
    blankets = np.empty((n, SIZE, SIZE, 3), np.float32)
    for i in range(n):
        r = np.hypot(xx * rng.uniform(0.7, 1.3), yy)
        petals = np.cos(np.arctan2(yy, xx) * rng.integers(3, 9) + rng.uniform(0, 6))
        rings = np.cos(r * rng.uniform(6, 14))
        for c in range(3):
            blankets[i, :, :, c] = np.tanh(
                rng.normal() * petals + rng.normal() * rings + rng.normal() * 0.3
            )
    np.savez(path, blankets=blankets, year=rng.integers(1880, 1930, n))


class BlanketArchive:
    """Random batches from the museum's .npz archive."""

    def __init__(self, path, seed):
        self.archive = np.load(path)
        self.count = len(self.archive["year"])
        self.rng = np.random.default_rng(seed)

    def sample(self, n):
        pick = self.rng.integers(0, self.count, n)
        return self.archive["blankets"][pick]


def make_generator(latent):
    return keras.Sequential(
        [
            keras.Input((latent,)),
            layers.Dense(4 * 4 * 96, use_bias=False),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Reshape((4, 4, 96)),
            layers.Conv2DTranspose(64, 4, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(32, 4, strides=2, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.Conv2DTranspose(3, 4, strides=2, padding="same", activation="tanh"),
        ],
        name="generator",
    )


def make_critic():
    return keras.Sequential(
        [
            keras.Input((SIZE, SIZE, 3)),
            layers.Conv2D(32, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(64, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Conv2D(96, 4, strides=2, padding="same"),
            layers.LeakyReLU(negative_slope=0.2),
            layers.Flatten(),
            layers.Dense(1),
        ],
        name="critic",
    )


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    bce = keras.losses.BinaryCrossentropy(from_logits=True)
    generator, critic = make_generator(args.latent), make_critic()
    g_opt = keras.optimizers.Adam(args.lr, beta_1=0.5)
    c_opt = keras.optimizers.Adam(args.lr, beta_1=0.5)

    @tf.function
    def critic_step(real):
        z = tf.random.normal((tf.shape(real)[0], args.latent))
        fake = generator(z, training=True)
        with tf.GradientTape() as tape:
            on_real = critic(real, training=True)
            on_fake = critic(fake, training=True)
            loss = bce(tf.ones_like(on_real) * 0.9, on_real) + bce(tf.zeros_like(on_fake), on_fake)
        grads = tape.gradient(loss, critic.trainable_variables)
        c_opt.apply_gradients(zip(grads, critic.trainable_variables))
        return loss

    @tf.function
    def generator_step(n):
        z = tf.random.normal((n, args.latent))
        with tf.GradientTape() as tape:
            on_fake = critic(generator(z, training=True), training=True)
            loss = bce(tf.ones_like(on_fake), on_fake)
        grads = tape.gradient(loss, generator.trainable_variables)
        g_opt.apply_gradients(zip(grads, generator.trainable_variables))
        return loss

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "blankets.npz")
        paint_blankets(path, args.blankets, args.seed)
        archive = BlanketArchive(path, args.seed)
        n = tf.constant(args.batch)
        for step in range(1, args.steps + 1):
            c_loss = critic_step(tf.constant(archive.sample(args.batch)))
            g_loss = generator_step(n)
            if step % args.log_every == 0:
                print(f"{step:5d}  critic {float(c_loss):.3f}  generator {float(g_loss):.3f}")
        archive.archive.close()


if __name__ == "__main__":
    main()
