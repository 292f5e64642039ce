"""VAE over plankton micrographs: PNG strings in, 32x32 latents-friendly crops out."""

import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf
from tensorflow import keras

RAW = 224
SIDE = 32
BATCH = 32
LATENT = 12
EPOCHS = 11
MIN_FOCUS = 0.6


def capture(n, seed):
    """Fake microscope: elliptic cells over an uneven background, stored as PNG."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:RAW, 0:RAW].astype(np.float32) / RAW
    frames, focus = [], []
    for _ in range(n):
        cx, cy = rng.uniform(0.3, 0.7, 2)
        a, b = rng.uniform(0.08, 0.25, 2)
        cell = np.exp(-(((xx - cx) / a) ** 2 + ((yy - cy) / b) ** 2))
        light = 0.4 + 0.3 * xx * rng.uniform(-1, 1) + 0.3 * yy * rng.uniform(-1, 1)
        img = np.clip(light + 0.5 * cell + rng.normal(0, 0.03, (RAW, RAW)), 0, 1)
        frames.append(tf.io.encode_png((img[..., None] * 255).astype(np.uint8)).numpy())
        focus.append(rng.random())
    return np.array(frames, object), np.array(focus, np.float32)


def develop(png, focus):
    """PNG -> small float image."""
    img = tf.cast(tf.io.decode_png(png, channels=1), tf.float32) / 255.0
    img = tf.image.resize(img, (SIDE * 2, SIDE * 2), method="lanczos3", antialias=True)
    return tf.image.resize(img, (SIDE, SIDE), method="area"), focus


def level_background(img):
    """Row/column leveling as described in the lab protocol."""
    img = img[..., 0].copy()
    for _ in range(2):
        for r in range(img.shape[0]):
            img[r] -= np.median(img[r])
        for c in range(img.shape[1]):
            img[:, c] -= np.median(img[:, c])
    lo, hi = np.percentile(img, [1, 99])
    return np.clip((img - lo) / (hi - lo + 1e-6), 0, 1).astype(np.float32)[..., None]


def levelled(img, focus):
    out = tf.numpy_function(level_background, [img], tf.float32)
    return tf.ensure_shape(out, (SIDE, SIDE, 1))


def input_pipeline(frames, focus):
    ds = tf.data.Dataset.from_tensor_slices((list(frames), focus))
    ds = ds.map(develop)
    ds = ds.filter(lambda img, focus: focus > MIN_FOCUS)
    ds = ds.map(levelled)
    ds = ds.shuffle(256).batch(BATCH, drop_remainder=True)
    return ds.prefetch(1)


class PlanktonVae(keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = keras.Sequential(
            [
                keras.layers.Conv2D(16, 3, 2, "same", activation="relu"),
                keras.layers.Conv2D(32, 3, 2, "same", activation="relu"),
                keras.layers.Flatten(),
                keras.layers.Dense(2 * LATENT),
            ]
        )
        self.decoder = keras.Sequential(
            [
                keras.layers.Dense(8 * 8 * 32, activation="relu"),
                keras.layers.Reshape((8, 8, 32)),
                keras.layers.Conv2DTranspose(16, 3, 2, "same", activation="relu"),
                keras.layers.Conv2DTranspose(1, 3, 2, "same"),
            ]
        )
        self.recon = keras.metrics.Mean(name="recon")
        self.kl = keras.metrics.Mean(name="kl")

    @property
    def metrics(self):
        return [self.recon, self.kl]

    def call(self, x, training=False):
        mean, logvar = tf.split(self.encoder(x, training=training), 2, axis=1)
        z = mean + tf.exp(0.5 * logvar) * tf.random.normal(tf.shape(mean))
        return self.decoder(z, training=training), mean, logvar

    def train_step(self, x):
        with tf.GradientTape() as tape:
            logits, mean, logvar = self(x, training=True)
            recon = tf.reduce_mean(
                tf.reduce_sum(
                    tf.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=logits), axis=(1, 2, 3)
                )
            )
            kl = -0.5 * tf.reduce_mean(tf.reduce_sum(1 + logvar - mean**2 - tf.exp(logvar), axis=1))
            loss = recon + kl
        self.optimizer.apply(
            tape.gradient(loss, self.trainable_variables), self.trainable_variables
        )
        self.recon.update_state(recon)
        self.kl.update_state(kl)
        return {m.name: m.result() for m in self.metrics}


def main():
    keras.utils.set_random_seed(8)
    frames, focus = capture(1500, seed=3)
    model = PlanktonVae()
    model.build((None, SIDE, SIDE, 1))
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    t0 = time.time()
    model.fit(input_pipeline(frames, focus), epochs=EPOCHS, verbose=2)
    print("trained in %.1f s" % (time.time() - t0))


if __name__ == "__main__":
    main()
