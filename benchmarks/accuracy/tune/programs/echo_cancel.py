"""Acoustic echo cancellation: a net learns what of the loudspeaker comes back in the microphone."""

import logging
import math

import numpy as np
import tensorflow as tf

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
log = logging.getLogger("echo")

FRAME, BATCH, STEPS = 400, 32, 780
rng = np.random.default_rng(12)
room = rng.normal(size=64) * np.exp(-np.arange(64) / 12)


def talk(count):
    """Far speech, and what the microphone hears of it."""
    t = np.arange(FRAME) / 8000
    pitch = rng.uniform(90, 260, (count, 1))
    far = sum(np.sin(2 * np.pi * pitch * k * t) / k for k in (1, 2, 3, 5))
    far = far + rng.normal(0, 0.1, far.shape)
    heard = np.fft.irfft(np.fft.rfft(far) * np.fft.rfft(np.tanh(room), FRAME), FRAME)
    heard += rng.normal(0, 0.02, heard.shape)
    return far.astype("float32")[..., None], heard.astype("float32")[..., None]


def canceller():
    far = tf.keras.Input((FRAME, 1))
    x = far
    for dilation in (1, 2, 4, 8):
        x = tf.keras.layers.Conv1D(
            32, 5, padding="causal", dilation_rate=dilation, activation="tanh"
        )(x)
    return tf.keras.Model(far, tf.keras.layers.Conv1D(1, 1)(x))


net = canceller()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def adapt(far, heard):
    with tf.GradientTape() as tape:
        residual = heard - net(far, training=True)
        loss = tf.reduce_mean(residual**2)
    weights = net.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return residual


class Meter:
    """Echo return loss enhancement, in decibels."""

    def __init__(self):
        self.heard, self.residuals = [], []

    def update(self, heard, residual):
        self.heard.append(heard)
        self.residuals.append(residual)

    def result(self):
        before = tf.reduce_mean(tf.square(tf.concat(self.heard, axis=0)))
        after = tf.reduce_mean(tf.square(tf.concat(self.residuals, axis=0)))
        return 10 * math.log10(float(before) / float(after))


def main():
    meter = Meter()
    best = -99.0
    for step in range(STEPS):
        far, heard = map(tf.constant, talk(BATCH))
        meter.update(heard, adapt(far, heard))
        best = max(best, meter.result())
        if step % 60 == 0:
            log.info("step %d: %.2f dB so far", step, best)


if __name__ == "__main__":
    main()
