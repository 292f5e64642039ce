"""A physics-informed network: few steps, each with many points, and second derivatives."""

import tensorflow as tf


class Net(tf.Module):
    def __init__(self, widths=(2, 64, 64, 64, 1)):
        self.w = [tf.Variable(tf.random.normal(s, stddev=0.3)) for s in zip(widths, widths[1:])]
        self.b = [tf.Variable(tf.zeros(n)) for n in widths[1:]]

    def __call__(self, x):
        for w, b in zip(self.w[:-1], self.b[:-1]):
            x = tf.tanh(x @ w + b)
        return x @ self.w[-1] + self.b[-1]


u = Net()
optimizer = tf.keras.optimizers.Adam(1e-3)
variables = u.trainable_variables
optimizer.build(variables)


def residual(points):
    with tf.GradientTape() as second:
        second.watch(points)
        with tf.GradientTape() as first:
            first.watch(points)
            value = u(points)
        slope = first.gradient(value, points)
        along = slope[:, :1]
    curve = second.gradient(along, points)[:, :1]
    return slope[:, 1:] - 0.1 * curve


@tf.function
def sweep(points, borders):
    total = 0.0
    for chunk in tf.split(points, 6):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(residual(chunk) ** 2) + tf.reduce_mean(u(borders) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        total += loss
    return total


for outer in range(45):
    points = tf.random.uniform([24_000, 2])
    borders = tf.random.uniform([500, 2]) * [0.0, 1.0]
    loss = sweep(points, borders)
    print("sweep", outer, float(loss))
