"""Beta-VAE over perfume accords: which notes go together?"""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

N_NOTES = 240
LATENT = 16


def make_perfumes(n, seed):
    rng = np.random.default_rng(seed)
    families = rng.gamma(0.3, 1.0, size=(12, N_NOTES))
    families /= families.sum(1, keepdims=True)
    mix = rng.dirichlet(np.full(12, 0.25), size=n)
    p = 1.0 - np.exp(-40.0 * mix @ families)
    return (rng.random((n, N_NOTES)) < p).astype("float32")


class Encoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.body = keras.Sequential(
            [
                layers.Dense(512, activation="gelu"),
                layers.LayerNormalization(),
                layers.Dense(512, activation="gelu"),
                layers.LayerNormalization(),
            ]
        )
        self.mu = layers.Dense(LATENT)
        self.logvar = layers.Dense(LATENT)

    def call(self, x):
        h = self.body(x)
        return self.mu(h), tf.clip_by_value(self.logvar(h), -8.0, 8.0)


def make_decoder():
    return keras.Sequential(
        [
            layers.Dense(512, activation="gelu"),
            layers.LayerNormalization(),
            layers.Dense(512, activation="gelu"),
            layers.Dense(N_NOTES),
        ]
    )


class PerfumeTrainer:
    def __init__(self, lr):
        self.enc = Encoder()
        self.dec = make_decoder()
        self.opt = keras.optimizers.Adam(lr)
        self.enc(tf.zeros((1, N_NOTES)))
        self.dec(tf.zeros((1, LATENT)))
        self.vars = self.enc.trainable_variables + self.dec.trainable_variables
        self.opt.build(self.vars)

    @tf.function
    def train_step(self, x, beta):
        with tf.GradientTape() as tape:
            mu, logvar = self.enc(x)
            z = mu + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mu))
            logits = self.dec(z)
            rec = tf.reduce_sum(
                tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), -1
            )
            kl = 0.5 * tf.reduce_sum(mu**2 + tf.exp(logvar) - 1.0 - logvar, -1)
            loss = tf.reduce_mean(rec + beta * kl)
        grads = tape.gradient(loss, self.vars)
        self.opt.apply_gradients(zip(grads, self.vars))
        return tf.reduce_mean(rec), tf.reduce_mean(kl)


def kl_weight(step, start, ramp):
    if step < start:
        return 0.0
    return min(1.0, (step - start + 1) / ramp)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=13)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--free-epochs", type=int, default=5)
    ap.add_argument("--ramp", type=int, default=22)
    args = ap.parse_args()
    keras.utils.set_random_seed(5)

    x = make_perfumes(9216, seed=1)
    ds = (
        tf.data.Dataset.from_tensor_slices(x)
        .shuffle(len(x), seed=3)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    trainer = PerfumeTrainer(lr=1e-3)
    steps_per_epoch = len(x) // args.batch
    step = 0
    for epoch in range(args.epochs):
        t0 = time.time()
        for batch in ds:
            beta = kl_weight(step, args.free_epochs * steps_per_epoch, args.ramp)
            rec, kl = trainer.train_step(batch, beta)
            step += 1
        print(
            f"epoch {epoch:2d} rec {float(rec):7.2f} kl {float(kl):7.2f} "
            f"beta {beta:.2f} {time.time() - t0:.1f}s"
        )

    z = tf.random.normal((5, LATENT))
    probs = tf.sigmoid(trainer.dec(z)).numpy()
    for p in probs:
        print("new accord:", " ".join(f"note{j}" for j in np.argsort(-p)[:6]))


if __name__ == "__main__":
    main()
