"""Variational autoencoder for small drawings; the KL term is phased in, notch by notch."""

import argparse
import logging

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

log = logging.getLogger("vae")


def drawings(count, size=20, seed=3):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:size, 0:size]
    out = np.zeros((count, size, size, 1), np.float32)
    for k in range(count):
        cy, cx, r = rng.uniform(4, size - 4, 2).tolist() + [rng.uniform(2, 5)]
        out[k, :, :, 0] = ((yy - cy) ** 2 + (xx - cx) ** 2 < r * r).astype(np.float32)
    return out


class VAE(tf.keras.Model):
    def __init__(self, latent):
        super().__init__()
        self.latent = latent
        self.encoder = tf.keras.Sequential(
            [
                layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2D(32, 3, strides=2, padding="same", activation="relu"),
                layers.Flatten(),
                layers.Dense(2 * latent),
            ]
        )
        self.decoder = tf.keras.Sequential(
            [
                layers.Dense(5 * 5 * 32, activation="relu"),
                layers.Reshape((5, 5, 32)),
                layers.Conv2DTranspose(16, 3, strides=2, padding="same", activation="relu"),
                layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
            ]
        )

    def encode(self, x):
        return tf.split(self.encoder(x), 2, axis=1)


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = tf.keras.optimizers.Adam(lr)
        self.updates = 0

    @tf.function
    def update(self, x, kl_weight):
        with tf.GradientTape() as tape:
            mean, logvar = self.model.encode(x)
            z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
            logits = self.model.decoder(z)
            ce = tf.nn.sigmoid_cross_entropy_with_logits(logits=logits, labels=x)
            rec = tf.reduce_mean(tf.reduce_sum(ce, axis=[1, 2, 3]))
            kl = -0.5 * tf.reduce_sum(1 + logvar - mean**2 - tf.exp(logvar), axis=1)
            loss = rec + kl_weight * tf.reduce_mean(kl)
        grads = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))
        return loss

    def run(self, data, epochs, notch):
        for epoch in range(epochs):
            losses = []
            for x in data:
                weight = min(1.0, round(0.05 * (self.updates // notch), 2))
                losses.append(self.update(x, weight))
                self.updates += 1
            log.info("epoch %d: loss %.2f", epoch + 1, float(tf.reduce_mean(losses)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=14)
    parser.add_argument("--updates-per-notch", type=int, default=25)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    data = tf.data.Dataset.from_tensor_slices(drawings(1600)).shuffle(1600).batch(args.batch, True)
    Trainer(VAE(8), 1e-3).run(data.prefetch(2), args.epochs, args.updates_per_notch)


if __name__ == "__main__":
    main()
