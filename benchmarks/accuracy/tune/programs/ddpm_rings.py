"""Denoising diffusion on small synthetic pictures (rings and bars), Keras fit."""

import argparse
import math
import os
import shutil
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

IMAGE = 24


def make_pictures(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:IMAGE, 0:IMAGE].astype(np.float32)
    cy, cx = rng.uniform(8, 16, (2, n, 1, 1))
    radius = rng.uniform(3, 8, (n, 1, 1))
    dist = np.sqrt((yy - cy) ** 2 + (xx - cx) ** 2)
    rings = np.exp(-((dist - radius) ** 2) / 1.5)
    bars = np.exp(-((yy - cy) ** 2) / 3.0)
    pick = rng.random((n, 1, 1)) < 0.7
    return (2.0 * np.where(pick, rings, bars) - 1.0).astype(np.float32)[..., None]


def cosine_alpha(t):
    return tf.cos(0.5 * math.pi * (0.98 * t + 0.01)) ** 2


class TimeFeatures(layers.Layer):
    def call(self, t):
        freqs = tf.exp(tf.linspace(0.0, 5.0, 8))
        angles = t[:, tf.newaxis] * freqs[tf.newaxis]
        return tf.concat([tf.sin(angles), tf.cos(angles)], axis=-1)


def build_denoiser(width):
    x_in = keras.Input((IMAGE, IMAGE, 1))
    t_in = keras.Input(())
    emb = layers.Dense(width, activation="swish")(TimeFeatures()(t_in))

    def block(x, w):
        shift = layers.Reshape((1, 1, w))(layers.Dense(w)(emb))
        y = layers.Conv2D(w, 3, padding="same", activation="swish")(x)
        y = layers.add([y, shift])
        y = layers.Conv2D(w, 3, padding="same", activation="swish")(y)
        return layers.add([y, layers.Conv2D(w, 1)(x)])

    a = block(x_in, width)
    b = block(layers.AveragePooling2D(2)(a), width * 2)
    c = layers.UpSampling2D()(block(b, width * 2))
    d = block(layers.concatenate([a, c]), width)
    return keras.Model(
        [x_in, t_in], layers.Conv2D(1, 3, padding="same", kernel_initializer="zeros")(d)
    )


class Diffusion(keras.Model):
    def __init__(self, width):
        super().__init__()
        self.denoiser = build_denoiser(width)
        self.loss_tracker = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_tracker]

    def noise_loss(self, images, training):
        n = tf.shape(images)[0]
        t = tf.random.uniform((n,))
        alpha = cosine_alpha(t)[:, None, None, None]
        noise = tf.random.normal(tf.shape(images))
        noisy = tf.sqrt(alpha) * images + tf.sqrt(1.0 - alpha) * noise
        return tf.reduce_mean((self.denoiser([noisy, t], training=training) - noise) ** 2)

    def train_step(self, images):
        with tf.GradientTape() as tape:
            loss = self.noise_loss(images, True)
        grads = tape.gradient(loss, self.denoiser.trainable_variables)
        self.optimizer.apply(grads, self.denoiser.trainable_variables)
        self.loss_tracker.update_state(loss)
        return {"loss": self.loss_tracker.result()}

    def test_step(self, images):
        self.loss_tracker.update_state(self.noise_loss(images, False))
        return {"loss": self.loss_tracker.result()}

    @tf.function
    def ddim(self, noise, steps):
        """Returns the predicted clean pictures at each of the steps."""
        times = tf.linspace(1.0, 0.0, steps + 1)
        x = noise
        trail = tf.TensorArray(tf.float32, steps)
        for i in tf.range(steps):
            t = tf.fill((tf.shape(noise)[0],), times[i])
            now, nxt = cosine_alpha(times[i]), cosine_alpha(times[i + 1])
            eps = self.denoiser([x, t], training=False)
            clean = tf.clip_by_value((x - tf.sqrt(1.0 - now) * eps) / tf.sqrt(now), -1.0, 1.0)
            x = tf.sqrt(nxt) * clean + tf.sqrt(1.0 - nxt) * eps
            trail = trail.write(i, clean)
        return trail.stack()


class SampleReel(keras.callbacks.Callback):
    """Denoises the same noise after each epoch, to look at the progress later."""

    def __init__(self, directory, count=24, steps=16, seed=0):
        super().__init__()
        self.path = os.path.join(directory, "reel.npz")
        self.noise = tf.random.stateless_normal((count, IMAGE, IMAGE, 1), (seed, 17))
        self.steps = tf.constant(steps)
        self.reel = []

    def on_epoch_end(self, epoch, logs=None):
        trail = self.model.ddim(self.noise, self.steps)
        self.reel.append(trail.numpy())
        np.savez_compressed(self.path, reel=np.stack(self.reel))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=28)
    p.add_argument("--images", type=int, default=384)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--width", type=int, default=12)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--keep", action="store_true", help="keep the run directory")
    args = p.parse_args()
    keras.utils.set_random_seed(99)
    run_dir = tempfile.mkdtemp(prefix="ddpm_rings_")

    train = (
        tf.data.Dataset.from_tensor_slices(make_pictures(args.images, 1))
        .shuffle(args.images)
        .batch(args.batch, drop_remainder=True)
        .prefetch(tf.data.AUTOTUNE)
    )
    val = tf.data.Dataset.from_tensor_slices(make_pictures(64, 2)).batch(args.batch)
    model = Diffusion(args.width)
    model.compile(optimizer=keras.optimizers.Adam(args.lr), jit_compile=False)
    model.fit(
        train,
        validation_data=val,
        epochs=args.epochs,
        verbose=2,
        callbacks=[
            SampleReel(run_dir),
            keras.callbacks.CSVLogger(os.path.join(run_dir, "log.csv")),
        ],
    )
    model.denoiser.save_weights(os.path.join(run_dir, "denoiser.weights.h5"))
    if not args.keep:
        shutil.rmtree(run_dir, ignore_errors=True)


if __name__ == "__main__":
    main()
