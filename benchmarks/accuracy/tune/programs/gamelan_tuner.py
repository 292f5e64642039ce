"""Adapt a pretrained spectrogram encoder to detuned gamelan gongs.

The encoder comes from another ensemble ("Sekar") and stays as it is; only the
tuning head learns the pitch offset (in cents) of each strike.
Written by somebody coming from PyTorch, hence zero_grad-style structure.
"""

import argparse
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras


def conv_block(filters, stride):
    return keras.Sequential(
        [
            keras.layers.Conv2D(filters, 3, strides=stride, padding="same"),
            keras.layers.LayerNormalization(),
            keras.layers.Activation("gelu"),
        ]
    )


class Encoder(keras.Model):
    def __init__(self):
        super().__init__()
        self.blocks = [conv_block(16, 1), conv_block(24, 2), conv_block(32, 2), conv_block(48, 2)]
        self.pool = keras.layers.GlobalAveragePooling2D()

    def call(self, x):
        for b in self.blocks:
            x = b(x)
        return self.pool(x)


class TuningHead(keras.Model):
    def __init__(self):
        super().__init__()
        self.fc1 = keras.layers.Dense(64, activation="relu")
        self.fc2 = keras.layers.Dense(1)

    def call(self, z):
        return self.fc2(self.fc1(z))[:, 0]


def strikes(n, rng):
    """Log-frequency images: partials of a gong shifted by a few bins."""
    bins, frames = 48, 32
    cents = rng.uniform(-1, 1, n).astype(np.float32)
    base = rng.integers(8, 20, n)
    f = np.arange(bins)[None, :, None]
    t = np.arange(frames)[None, None, :]
    img = np.zeros((n, bins, frames), np.float32)
    for k, amp in zip((0, 7, 12, 17), (1.0, 0.6, 0.5, 0.3)):
        centre = (base + k + 2 * cents)[:, None, None]
        img += amp * np.exp(-((f - centre) ** 2)) * np.exp(-t / (20 - k))
    img += 0.05 * rng.normal(size=img.shape)
    return img[..., None].astype(np.float32), cents


class Trainer:
    def __init__(self, encoder, head, lr):
        self.encoder = encoder
        self.head = head
        self.optim = keras.optimizers.Adam(lr)

    def parameters(self):
        return self.encoder.trainable_variables + self.head.trainable_variables

    @tf.function
    def training_step(self, x, y):
        gain = tf.random.uniform([tf.shape(x)[0], 1, 1, 1], 0.5, 1.5)
        hiss = 0.03 * tf.random.normal(tf.shape(x))
        with tf.GradientTape() as tape:
            z = self.encoder(x * gain + hiss)
            loss = tf.reduce_mean(tf.square(self.head(z) - y))
        grads = tape.gradient(loss, self.parameters())
        norm = tf.linalg.global_norm(grads)
        n_head = len(self.head.trainable_variables)
        self.optim.apply_gradients(zip(grads[-n_head:], self.head.trainable_variables))
        return loss, norm


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--strikes", type=int, default=2560)
    ap.add_argument("--batch-size", type=int, default=64)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    keras.utils.set_random_seed(23)
    rng = np.random.default_rng(23)
    x, y = strikes(args.strikes, rng)
    encoder, head = Encoder(), TuningHead()
    head(encoder(x[:2]))
    trainer = Trainer(encoder, head, args.lr)
    print("encoder parameters:", encoder.count_params(), " head:", head.count_params())
    t0 = time.time()
    for epoch in range(args.epochs):
        order = rng.permutation(len(x))
        running = 0.0
        for i in range(0, len(x), args.batch_size):
            idx = order[i : i + args.batch_size]
            loss, norm = trainer.training_step(tf.constant(x[idx]), tf.constant(y[idx]))
            running += float(loss)
        print(
            f"epoch {epoch}: loss {running * args.batch_size / len(x):.4f}  |g| {float(norm):.3f}"
        )
    print("train time %.2f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
