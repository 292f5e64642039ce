"""Denoising diffusion implicit model for glyphs of 24 by 24 points, after the Keras example."""

import math

import keras
import numpy as np
import tensorflow as tf
from keras import layers

SIDE, BATCH, EPOCHS, EMA = 24, 32, 21, 0.99


def glyphs(n=1280, seed=3):
    rng = np.random.default_rng(seed)
    image = np.full((n, SIDE, SIDE, 1), -1.0, dtype="float32")
    for k in range(n):
        for _ in range(rng.integers(2, 5)):
            r, c = rng.integers(2, SIDE - 10, 2)
            length = rng.integers(5, 10)
            if rng.random() < 0.5:
                image[k, r : r + length, c : c + 2] = 1.0
            else:
                image[k, r : r + 2, c : c + length] = 1.0
    return image


def small_unet():
    noisy, variance = keras.Input((SIDE, SIDE, 1)), keras.Input((1, 1, 1))
    angles = keras.ops.concatenate([variance * (2**k) for k in range(6)], axis=-1)
    code = keras.ops.concatenate([keras.ops.sin(angles), keras.ops.cos(angles)], axis=-1)
    x = layers.Concatenate()([noisy, layers.UpSampling2D(SIDE)(code)])
    skips = []
    for filters in (16, 24):
        x = layers.Conv2D(filters, 3, padding="same", activation="swish")(x)
        skips.append(x)
        x = layers.AveragePooling2D(2)(x)
    x = layers.Conv2D(32, 3, padding="same", activation="swish")(x)
    for filters in (24, 16):
        x = layers.UpSampling2D()(x)
        x = layers.Concatenate()([x, skips.pop()])
        x = layers.Conv2D(filters, 3, padding="same", activation="swish")(x)
    return keras.Model([noisy, variance], layers.Conv2D(1, 1, kernel_initializer="zeros")(x))


class Diffusion(keras.Model):
    def __init__(self):
        super().__init__()
        self.network, self.ema = small_unet(), small_unet()
        self.ema.set_weights(self.network.get_weights())

    def rates(self, time):
        angle = 0.2 + time * (math.pi / 2 - 0.25)
        return tf.sin(angle), tf.cos(angle)

    def train_step(self, images):
        noise = tf.random.normal(tf.shape(images))
        noise_rate, signal_rate = self.rates(tf.random.uniform((tf.shape(images)[0], 1, 1, 1)))
        mixed = signal_rate * images + noise_rate * noise
        with tf.GradientTape() as tape:
            guess = self.network([mixed, noise_rate**2], training=True)
            loss = tf.reduce_mean(tf.abs(guess - noise))
        weights = self.network.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        for slow, fast in zip(self.ema.weights, self.network.weights):
            slow.assign(EMA * slow + (1 - EMA) * fast)
        return {"noise_loss": loss}

    def generate(self, count, steps):
        x = tf.random.normal((count, SIDE, SIDE, 1))
        for k in range(steps):
            noise_rate, signal_rate = self.rates(tf.fill((count, 1, 1, 1), 1.0 - k / steps))
            noise = self.ema([x, noise_rate**2], training=False)
            clean = (x - noise_rate * noise) / signal_rate
            noise_rate, signal_rate = self.rates(tf.fill((count, 1, 1, 1), 1.0 - (k + 1) / steps))
            x = signal_rate * clean + noise_rate * noise
        return clean


def save_samples(epoch, logs):
    if epoch % 8 < 7:
        return
    rows = np.concatenate(list(model.generate(6, steps=8).numpy()[..., 0]), axis=1)
    pixels = np.uint8(np.clip(rows * 127.5 + 127.5, 0, 255))[..., None]
    keras.utils.save_img(f"glyphs_{epoch:02d}.png", pixels)


model = Diffusion()
model.compile(optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4))
images = tf.data.Dataset.from_tensor_slices(glyphs()).cache().shuffle(1280)
images = images.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
sampler = keras.callbacks.LambdaCallback(on_epoch_end=save_samples)
model.fit(images, epochs=EPOCHS, callbacks=[sampler], verbose=2)
