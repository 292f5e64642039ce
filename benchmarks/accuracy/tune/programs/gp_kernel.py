"""Gaussian process for ozone at weather stations: kernel parameters by maximum likelihood."""

import numpy as np
import tensorflow as tf

STATIONS, INDUCED, ITERATIONS = 1200, 200, 40
rng = np.random.default_rng(66)


def ozone():
    place = rng.uniform(0, 10, (STATIONS + INDUCED, 3))
    value = np.sin(place[:, 0]) + np.cos(place[:, 1] * 0.7) + 0.3 * place[:, 2]
    value += rng.normal(0, 0.2, len(value))
    value = (value - value.mean()) / value.std()
    return np.split(place, [STATIONS]), np.split(value[:, None], [STATIONS])


class Kernel(tf.Module):
    """Sum of a smooth and a rough part, one length scale for each direction."""

    def __init__(self):
        super().__init__()
        self.scale = tf.Variable(tf.zeros([2, 3], tf.float64))
        self.height = tf.Variable(tf.zeros([2], tf.float64))
        self.noise = tf.Variable(tf.constant(-1.0, tf.float64))

    def __call__(self, a, b):
        total = 0.0
        for k in range(2):
            length = tf.exp(self.scale[k])
            gap = tf.reduce_sum(((a[:, None] - b[None]) / length) ** 2, -1)
            part = tf.exp(-0.5 * gap) if k == 0 else tf.exp(-tf.sqrt(gap + 1e-9))
            total += tf.exp(self.height[k]) * part
        return total


(x, x_test), (y, y_test) = ozone()
kernel = Kernel()
optimizer = tf.keras.optimizers.Adam(0.08)


@tf.function
def negative_log_likelihood(x, y):
    with tf.GradientTape() as tape:
        diagonal = tf.exp(2 * kernel.noise) * tf.eye(STATIONS, dtype=tf.float64)
        lower = tf.linalg.cholesky(kernel(x, x) + diagonal)
        weighted = tf.linalg.triangular_solve(lower, y)
        loss = 0.5 * tf.reduce_sum(weighted**2)
        loss += tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lower)))
    grads = tape.gradient(loss, kernel.trainable_variables)
    optimizer.apply_gradients(zip(grads, kernel.trainable_variables))
    return loss


x, y = tf.constant(x), tf.constant(y)
for iteration in range(ITERATIONS):
    loss = negative_log_likelihood(x, y)
    print(f"iteration {iteration:2d}: {loss / STATIONS:.4f} per station")

gram = kernel(x, x) + tf.exp(2 * kernel.noise) * tf.eye(STATIONS, dtype=tf.float64)
guess = kernel(tf.constant(x_test), x) @ tf.linalg.solve(gram, y)
print("error at new stations", np.abs(guess.numpy() - y_test).mean())
