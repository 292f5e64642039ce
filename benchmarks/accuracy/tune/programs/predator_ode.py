"""Neural ordinary differential equation for hares and lynxes; everything runs eagerly."""

import numpy as np
import tensorflow as tf

DT, HORIZON, BATCH, ITERATIONS = 0.1, 10, 32, 320
rng = np.random.default_rng(46)


def lotka_volterra(steps=600):
    hare, lynx, rows = 1.0, 0.6, []
    for _ in range(steps):
        for _ in range(20):
            change = hare * (1.1 - lynx), lynx * (hare - 0.9)
            hare, lynx = hare + DT / 20 * change[0], lynx + DT / 20 * change[1]
        rows.append((hare, lynx))
    return np.array(rows, dtype=np.float32)


class Slope(tf.Module):
    def __init__(self, hidden=64):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal([2, hidden], stddev=0.3))
        self.b1 = tf.Variable(tf.zeros([hidden]))
        self.w2 = tf.Variable(tf.random.normal([hidden, hidden], stddev=0.1))
        self.w3 = tf.Variable(tf.random.normal([hidden, 2], stddev=0.1))

    def __call__(self, y):
        return tf.tanh(tf.tanh(y @ self.w1 + self.b1) @ self.w2) @ self.w3


def runge_kutta(f, y):
    k1 = f(y)
    k2 = f(y + DT / 2 * k1)
    k3 = f(y + DT / 2 * k2)
    k4 = f(y + DT * k3)
    return y + DT / 6 * (k1 + 2 * k2 + 2 * k3 + k4)


truth = lotka_volterra()
slope = Slope()
optimizer = tf.keras.optimizers.RMSprop(2e-3)
for iteration in range(1, ITERATIONS + 1):
    starts = rng.integers(0, len(truth) - HORIZON, BATCH)
    path = tf.constant(truth[starts[:, None] + np.arange(HORIZON + 1)])
    with tf.GradientTape() as tape:
        y, loss = path[:, 0], 0.0
        for t in range(HORIZON):
            y = runge_kutta(slope, y)
            loss += tf.reduce_mean(tf.abs(y - path[:, t + 1]))
    grads = tape.gradient(loss, slope.trainable_variables)
    optimizer.apply_gradients(zip(grads, slope.trainable_variables))
    if iteration % 20 == 0:
        print("Iter {:04d} | Total loss {:.6f}".format(iteration, loss.numpy() / HORIZON))
