"""Discrete autoencoder for engraved whale-tooth motifs (8x8 rubbings -> 12 categorical codes)."""

import argparse
import math
import time

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--teeth", type=int, default=6000)
    p.add_argument("--codes", type=int, default=12)
    p.add_argument("--choices", type=int, default=16)
    p.add_argument("--batch", type=int, default=250)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--hold", type=int, default=3, help="epochs at temperature 1")
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


def rubbings(n, rng):
    motifs = rng.random((40, 32, 32)) > 0.6
    pick = rng.integers(0, 40, size=(n, 2))
    img = np.logical_or(motifs[pick[:, 0]], motifs[pick[:, 1]]).astype("float32")
    flip = rng.random(img.shape) < 0.05
    img = np.where(flip, 1.0 - img, img)
    return img.reshape(n, -1).astype("float32")


class Scrimshaw(tf.keras.Model):
    def __init__(self, codes, choices, dim):
        super().__init__()
        self.codes, self.choices = codes, choices
        self.enc = [tf.keras.layers.Dense(640, activation="gelu") for _ in range(3)]
        self.to_logits = tf.keras.layers.Dense(codes * choices)
        self.dec = [tf.keras.layers.Dense(640, activation="gelu") for _ in range(3)]
        self.out = tf.keras.layers.Dense(dim)

    def encode(self, x):
        for layer in self.enc:
            x = layer(x)
        return tf.reshape(self.to_logits(x), [-1, self.codes, self.choices])

    def decode(self, z):
        x = tf.reshape(z, [-1, self.codes * self.choices])
        for layer in self.dec:
            x = layer(x)
        return self.out(x)


class Engraver:
    def __init__(self, model, lr):
        self.model = model
        self.opt = tf.keras.optimizers.Adam(lr)

    @tf.function
    def step(self, x, temperature):
        with tf.GradientTape() as tape:
            logits = self.model.encode(x)
            u = tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)
            gumbel = -tf.math.log(-tf.math.log(u))
            z = tf.nn.softmax((logits + gumbel) / temperature)
            recon = self.model.decode(z)
            bce = tf.reduce_mean(
                tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=recon), -1)
            )
            q = tf.nn.softmax(logits)
            kl = tf.reduce_mean(
                tf.reduce_sum(q * (tf.math.log(q + 1e-8) + math.log(self.model.choices)), [1, 2])
            )
            loss = bce + 0.1 * kl
        variables = self.model.trainable_variables
        self.opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return bce, kl


def temperature_at(step, hold_steps, rate=7e-3, every=9, floor=0.35):
    """Jang et al.: exp(-r t), refreshed every few steps."""
    t = max(0, step - hold_steps) // every * every
    return max(floor, math.exp(-rate * t))


def main():
    cfg = parse()
    tf.keras.utils.set_random_seed(cfg.seed)
    rng = np.random.default_rng(cfg.seed)
    x = rubbings(cfg.teeth, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices(x)
        .shuffle(cfg.teeth, seed=cfg.seed)
        .batch(cfg.batch, drop_remainder=True)
        .prefetch(2)
    )
    model = Scrimshaw(cfg.codes, cfg.choices, x.shape[1])
    engraver = Engraver(model, 1e-3)
    hold_steps = cfg.hold * (cfg.teeth // cfg.batch)
    start, step = time.time(), 0
    for epoch in range(cfg.epochs):
        for batch in ds:
            tau = temperature_at(step, hold_steps)
            bce, kl = engraver.step(batch, tau)
            step += 1
        print(f"epoch {epoch + 1:2d}  tau {tau:.3f}  bce {float(bce):7.2f}  kl {float(kl):.2f}")
    print(f"training took {time.time() - start:.2f} s")


if __name__ == "__main__":
    main()
