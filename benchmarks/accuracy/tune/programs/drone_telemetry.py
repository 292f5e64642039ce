"""Attitude estimation for a drone; the flight log must survive a crash."""

import os

import numpy as np
import tensorflow as tf

WINDOW, BATCH, STEPS = 40, 16, 1400


class FlightLog:
    """A text log, one line for each sample; each is on disk before we go on."""

    def __init__(self, path):
        self.file = open(path, "a")

    def record(self, step, sample, angles, truth):
        values = " ".join(f"{v:.5f}" for v in [*angles, *truth])
        self.file.write(f"{step} {sample} {values}\n")
        self.file.flush()
        os.fsync(self.file.fileno())


def flights(seed=31):
    rng = np.random.default_rng(seed)
    while True:
        rate = rng.normal(0, 1, (BATCH, WINDOW, 3)).cumsum(axis=1) * 0.05
        angle = rate.cumsum(axis=1) * 0.02
        gyro = rate + rng.normal(0, 0.05, rate.shape)
        accel = np.sin(angle) + rng.normal(0, 0.2, rate.shape)
        yield np.concatenate([gyro, accel], -1).astype("float32"), angle[:, -1].astype("float32")


class Estimator(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.conv = tf.keras.layers.Conv1D(48, 5, activation="gelu")
        self.rnn = tf.keras.layers.GRU(64)
        self.out = tf.keras.layers.Dense(3)

    def call(self, x, training=False):
        return self.out(self.rnn(self.conv(x), training=training))


net = Estimator()
optimizer = tf.keras.optimizers.AdamW(1e-3)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        guess = net(x, training=True)
        loss = tf.reduce_mean(tf.abs(guess - y))
    grads = tape.gradient(loss, net.trainable_variables)
    optimizer.apply_gradients(zip(grads, net.trainable_variables))
    return loss, guess


log = FlightLog("flight.log")
for step, (x, y) in zip(range(STEPS), flights()):
    loss, guess = train_step(tf.constant(x), tf.constant(y))
    for sample, (angles, truth) in enumerate(zip(guess.numpy(), y)):
        log.record(step, sample, angles, truth)
    if step % 100 == 0:
        print(f"step {step}: mean error {np.degrees(float(loss)):.3f} degrees")
