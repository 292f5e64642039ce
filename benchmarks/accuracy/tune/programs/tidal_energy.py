"""Predict the power of a row of tidal turbines from current and sea state."""

import argparse
import math

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

TURBINES = 12
SENSORS = 48
BATCH = 768
STEPS = 700
REPORT = 100


def make_log(n, rng):
    """Half-hourly records: tide phase, current, waves, blade angles."""
    hours = np.arange(n) * 0.5
    tide = np.sin(2 * np.pi * hours / 12.42) + 0.3 * np.sin(2 * np.pi * hours / 24.84)
    mix = rng.normal(size=(4, SENSORS)).astype(np.float32)
    base = np.stack([tide, np.gradient(tide), np.abs(tide) ** 1.5, rng.gamma(2.0, 0.4, n)], axis=1)
    x = base @ mix + 0.2 * rng.normal(size=(n, SENSORS))
    wake = 1.0 - 0.03 * np.arange(TURBINES)
    y = np.clip(np.abs(tide)[:, None] ** 3 * wake, 0, 1.4)
    y += 0.02 * rng.normal(size=y.shape)
    return x.astype(np.float32), y.astype(np.float32)


def dense(x, units, name, activation=None):
    fan_in = int(x.shape[-1])
    with tf.variable_scope(name):
        w = tf.get_variable(
            "w", [fan_in, units], initializer=tf.random_normal_initializer(0, 1 / math.sqrt(fan_in))
        )
        b = tf.get_variable("b", [units], initializer=tf.zeros_initializer())
    y = tf.matmul(x, w) + b
    return activation(y) if activation else y


class Plant:
    """Placeholders, network, loss and optimizer of the forecaster."""

    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, SENSORS], name="sensors")
        self.y = tf.placeholder(tf.float32, [None, TURBINES], name="power")
        h = dense(self.x, 256, "in", tf.nn.relu)
        for i in range(3):
            h = h + dense(tf.nn.relu(dense(h, 256, f"mid{i}a")), 256, f"mid{i}b")
        self.out = dense(h, TURBINES, "out")
        self.loss = tf.reduce_mean(tf.losses.huber_loss(self.y, self.out))
        self.mae = tf.reduce_mean(tf.abs(self.y - self.out))
        self.rate = tf.get_variable(
            "rate", [], initializer=tf.constant_initializer(1e-3), trainable=False
        )
        self.train = tf.train.AdamOptimizer(self.rate).minimize(self.loss)


class RateSchedule:
    """Cosine rate with a short linear ramp."""

    def __init__(self, plant, peak, total, ramp=200):
        self.plant = plant
        self.peak = peak
        self.total = total
        self.ramp = ramp

    def value(self, step):
        if step < self.ramp:
            return self.peak * (step + 1) / self.ramp
        done = (step - self.ramp) / max(1, self.total - self.ramp)
        return 0.5 * self.peak * (1 + math.cos(math.pi * done))

    def apply(self, sess, step):
        sess.run(self.plant.rate.assign(self.value(step)))


def batches(x, y, rng):
    while True:
        order = rng.permutation(len(x))
        for i in range(0, len(x) - BATCH + 1, BATCH):
            rows = order[i : i + BATCH]
            yield x[rows], y[rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=STEPS)
    args = parser.parse_args()
    rng = np.random.default_rng(7)
    x, y = make_log(26000, rng)
    x_val, y_val = x[-2000:], y[-2000:]
    x, y = x[:-2000], y[:-2000]
    tf.set_random_seed(7)
    plant = Plant()
    schedule = RateSchedule(plant, 1e-3, args.steps)
    feed = batches(x, y, rng)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        running = None
        for step in range(args.steps):
            schedule.apply(sess, step)
            bx, by = next(feed)
            loss, _ = sess.run([plant.loss, plant.train], {plant.x: bx, plant.y: by})
            running = loss if running is None else 0.98 * running + 0.02 * loss
            if (step + 1) % REPORT == 0:
                mae = sess.run(plant.mae, {plant.x: x_val, plant.y: y_val})
                print(f"step {step + 1:5d}  loss {running:.5f}  val MAE {mae:.4f}", flush=True)


if __name__ == "__main__":
    main()
