"""Masked autoencoder on light curves of stars; the masked share rises from epoch to epoch."""

import argparse

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

PATCHES, PATCH = 32, 8


def light_curves(n, seed=0):
    rng = np.random.RandomState(seed)
    t = np.linspace(0, 1, PATCHES * PATCH)
    period, depth = rng.uniform(0.05, 0.3, (n, 1)), rng.uniform(0.1, 1.0, (n, 1))
    dips = -depth * (np.mod(t[None], period) < 0.02)
    noise = rng.normal(0, 0.05, (n, t.size))
    return (dips + noise).astype("float32").reshape(n, PATCHES, PATCH)


def encoder_block(x, heads=4, width=64):
    a = layers.MultiHeadAttention(heads, width // heads)(x, x)
    x = layers.LayerNormalization()(layers.add([x, a]))
    f = layers.Dense(width)(layers.Dense(2 * width, activation="gelu")(x))
    return layers.LayerNormalization()(layers.add([x, f]))


def build():
    tokens = layers.Input((PATCHES, PATCH))
    x = layers.Dense(64)(tokens)
    x = x + layers.Embedding(PATCHES, 64)(tf.range(PATCHES))
    for _ in range(3):
        x = encoder_block(x)
    return tf.keras.Model(tokens, layers.Dense(PATCH)(x))


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = tf.keras.optimizers.AdamW(lr, weight_decay=1e-4)

    @tf.function
    def step(self, batch, epoch):
        share = tf.minimum(0.75, 0.15 + 0.01 * epoch)
        masked = tf.random.uniform(tf.shape(batch)[:2]) < share
        seen = tf.where(masked[..., None], 0.0, batch)
        with tf.GradientTape() as tape:
            rebuilt = self.model(seen, training=True)
            error = tf.reduce_mean(tf.square(rebuilt - batch), axis=-1)
            weight = tf.cast(masked, tf.float32)
            loss = tf.reduce_sum(error * weight) / tf.maximum(tf.reduce_sum(weight), 1.0)
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--stars", type=int, default=1280)
    parser.add_argument("--batch", type=int, default=32)
    args = parser.parse_args()
    stars = tf.data.Dataset.from_tensor_slices(light_curves(args.stars))
    stars = stars.cache().shuffle(args.stars).batch(args.batch, drop_remainder=True).prefetch(2)
    trainer = Trainer(build(), 5e-4)
    for epoch in range(args.epochs):
        mean = tf.keras.metrics.Mean()
        for batch in stars:
            mean.update_state(trainer.step(batch, epoch))
        print(f"epoch {epoch + 1}/{args.epochs} - loss: {mean.result():.5f}")


if __name__ == "__main__":
    main()
