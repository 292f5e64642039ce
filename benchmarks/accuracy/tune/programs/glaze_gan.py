"""GAN for pottery glaze recipes (oxide fractions); the critic's share of the work shrinks."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras

OXIDES = 48


def recipes(n, seed):
    rng = np.random.default_rng(seed)
    centres = rng.dirichlet(np.ones(OXIDES) * 0.4, 9)
    pick = rng.integers(0, 9, n)
    return np.stack([rng.dirichlet(120 * centres[k] + 0.2) for k in pick]).astype(np.float32)


def build(n_in, n_out, width, depth, last=None):
    net = keras.Sequential([keras.Input((n_in,))])
    for _ in range(depth):
        net.add(keras.layers.Dense(width))
        net.add(keras.layers.LeakyReLU(0.2))
    net.add(keras.layers.Dense(n_out, activation=last))
    return net


class GlazeGAN:
    def __init__(self, args, data):
        self.data, self.batch, self.noise = data, args.batch, args.noise
        self.gen = build(args.noise, OXIDES, args.width, 3, "softmax")
        self.critic = build(OXIDES, 1, args.width, 3)
        self.g_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.c_opt = keras.optimizers.Adam(2e-4, beta_1=0.5)
        self.g_opt.build(self.gen.trainable_variables)
        self.c_opt.build(self.critic.trainable_variables)

    def fake(self):
        return self.gen(tf.random.normal([self.batch, self.noise]), training=True)

    @tf.function
    def critic_step(self):
        idx = tf.random.uniform([self.batch], 0, self.data.shape[0], tf.int32)
        real = tf.gather(self.data, idx)
        fake = self.fake()
        with tf.GradientTape() as tape:
            dr, df = self.critic(real, training=True), self.critic(fake, training=True)
            loss = tf.reduce_mean(tf.nn.softplus(-dr)) + tf.reduce_mean(tf.nn.softplus(df))
        v = self.critic.trainable_variables
        self.c_opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss

    @tf.function
    def generator_step(self):
        v = self.gen.trainable_variables
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.nn.softplus(-self.critic(self.fake(), training=True)))
        self.g_opt.apply_gradients(zip(tape.gradient(loss, v), v))
        return loss


def moments(a):
    return a.mean(0), a.std(0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=768)
    ap.add_argument("--noise", type=int, default=24)
    ap.add_argument("--width", type=int, default=384)
    ap.add_argument("--cycles", type=int, default=220)
    args = ap.parse_args()
    keras.utils.set_random_seed(53)
    raw = recipes(6000, 53)
    gan = GlazeGAN(args, tf.constant(raw))
    mean, std = moments(raw)
    t0, updates = time.time(), 0
    for c in range(args.cycles):
        n_critic = 5 if c < 50 else 2 if c < 120 else 1
        for _ in range(n_critic):
            closs = gan.critic_step()
        gloss = gan.generator_step()
        updates += n_critic + 1
        if c % 40 == 39:
            m, s = moments(gan.fake().numpy())
            print(
                f"cycle {c + 1:3d} ({updates} updates, {n_critic}:1) critic {float(closs):.3f} "
                f"gen {float(gloss):.3f} mean gap {np.abs(m - mean).sum():.3f} "
                f"std gap {np.abs(s - std).sum():.3f}"
            )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
