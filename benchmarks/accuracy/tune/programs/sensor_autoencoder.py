#!/usr/bin/env python
"""Anomaly detection for pump sensors: denoising conv autoencoder in Keras."""

import glob
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf
from keras import layers

CHANNELS, LENGTH = 6, 128
N_FILES, ROWS = 24, 60
BATCH, EPOCHS = 48, 10


def write_recordings(folder):
    rng = np.random.default_rng(77)
    t = np.arange(LENGTH)
    for i in range(N_FILES):
        speed = rng.uniform(0.08, 0.3, (ROWS, 1, 1))
        phase = rng.uniform(0, 2 * np.pi, (ROWS, CHANNELS, 1))
        gain = rng.uniform(0.5, 1.5, (ROWS, CHANNELS, 1))
        x = gain * np.sin(speed * t + phase) + 0.1 * rng.normal(size=(ROWS, CHANNELS, LENGTH))
        flat = x.reshape(ROWS, -1)
        np.savetxt(os.path.join(folder, "pump_%03d.csv" % i), flat, fmt="%.4f", delimiter=",")


def read_csv(path):
    table = np.loadtxt(path.numpy().decode(), delimiter=",", dtype=np.float32)
    return table.reshape(-1, CHANNELS, LENGTH).transpose(0, 2, 1)


def load(path):
    x = tf.py_function(read_csv, [path], tf.float32)
    x.set_shape([None, LENGTH, CHANNELS])
    return tf.data.Dataset.from_tensor_slices(x)


def pipeline(files, training):
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.interleave(load, cycle_length=4, deterministic=True)
    ds = ds.cache()
    if training:
        ds = ds.shuffle(2000, seed=1).repeat(12)
    return ds.batch(BATCH).prefetch(tf.data.AUTOTUNE)


class Denoiser(keras.Model):
    def __init__(self, noise=0.3):
        super().__init__()
        self.noise = noise
        self.encoder = keras.Sequential(
            [
                layers.Conv1D(48, 7, strides=2, padding="same", activation="relu"),
                layers.Conv1D(64, 5, strides=2, padding="same", activation="relu"),
                layers.Conv1D(16, 3, padding="same"),
            ]
        )
        self.decoder = keras.Sequential(
            [
                layers.Conv1DTranspose(64, 5, strides=2, padding="same", activation="relu"),
                layers.Conv1DTranspose(48, 7, strides=2, padding="same", activation="relu"),
                layers.Conv1D(CHANNELS, 3, padding="same"),
            ]
        )
        self.mse = keras.metrics.Mean(name="mse")

    def call(self, x, training=False):
        return self.decoder(self.encoder(x, training=training), training=training)

    @property
    def metrics(self):
        return [self.mse]

    def train_step(self, x):
        noisy = x + tf.random.normal(tf.shape(x), stddev=self.noise)
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(noisy, training=True) - x))
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply(grads, self.trainable_variables)
        self.mse.update_state(loss)
        return {"mse": self.mse.result()}

    def test_step(self, x):
        self.mse.update_state(tf.reduce_mean(tf.square(self(x) - x)))
        return {"mse": self.mse.result()}


class ThresholdReport(keras.callbacks.Callback):
    """99% quantile of the reconstruction error, the alarm threshold in production."""

    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.quantiles = []
        self.batch_losses = []

    def on_train_batch_end(self, batch, logs=None):
        self.batch_losses.append(float(logs["mse"]))

    def on_epoch_end(self, epoch, logs=None):
        out = self.model.predict(self.sample, batch_size=128, verbose=0)
        err = np.mean((out - self.sample) ** 2, axis=(1, 2))
        self.quantiles.append(float(np.quantile(err, 0.99)))
        scale = sum(float(tf.norm(w)) for w in self.model.trainable_variables)
        print(
            "  threshold %.5f  |w| %.2f  batches %d"
            % (self.quantiles[-1], scale, len(self.batch_losses))
        )


def main():
    keras.utils.set_random_seed(8)
    folder = tempfile.mkdtemp(prefix="pumps_")
    write_recordings(folder)
    files = sorted(glob.glob(os.path.join(folder, "*.csv")))
    train = pipeline(files[:-3], True)
    valid = pipeline(files[-3:], False)
    sample = np.concatenate(list(valid.as_numpy_iterator()))

    model = Denoiser()
    model.compile(optimizer=keras.optimizers.Adam(1e-3))
    model.fit(
        train,
        validation_data=valid,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            ThresholdReport(sample),
            keras.callbacks.ModelCheckpoint(
                os.path.join(folder, "ae_{epoch:02d}.weights.h5"), save_weights_only=True
            ),
            keras.callbacks.ReduceLROnPlateau(monitor="mse", mode="min", patience=3, factor=0.5),
        ],
    )
    print("final threshold", model.evaluate(valid, verbose=0))


if __name__ == "__main__":
    main()
