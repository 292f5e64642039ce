"""Levenberg-Marquardt for a small net that corrects a magnetometer. Everything by hand, eagerly."""

import numpy as np
import tensorflow as tf

HIDDEN, SAMPLES, ROUNDS = 96, 6000, 60
f64 = tf.float64


def readings():
    rng = np.random.default_rng(40)
    field = rng.normal(size=(SAMPLES, 3))
    field /= np.linalg.norm(field, axis=1, keepdims=True)
    soft = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    warm = rng.uniform(-1, 1, (SAMPLES, 1))
    seen = field @ soft + 0.05 * warm + 0.03 * np.sin(3 * field[:, ::-1])
    seen += 0.002 * rng.normal(size=seen.shape)
    return tf.constant(np.hstack([seen, warm]), f64), tf.constant(field[:, :1], f64)


def unpack(theta):
    w, b, v, c = tf.split(theta, [4 * HIDDEN, HIDDEN, HIDDEN, 1])
    return tf.reshape(w, [4, HIDDEN]), b, v, c


def forward(theta, x):
    w, b, v, c = unpack(theta)
    h = tf.tanh(x @ w + b)
    return h, tf.linalg.matvec(h, v)[:, None] + c


def jacobian(theta, x, h):
    """Of the outputs, after w, b, v and c."""
    _, _, v, _ = unpack(theta)
    slope = (1 - h**2) * v
    by_w = tf.reshape(x[:, :, None] * slope[:, None, :], [SAMPLES, 4 * HIDDEN])
    return tf.concat([by_w, slope, h, tf.ones([SAMPLES, 1], f64)], axis=1)


def fit(x, y):
    rng = np.random.default_rng(1)
    size = 6 * HIDDEN + 1
    theta = tf.constant(rng.normal(0, 0.4, size), f64)
    damping = 1.0
    h, guess = forward(theta, x)
    error = float(tf.reduce_sum((y - guess) ** 2))
    for round_ in range(ROUNDS):
        j = jacobian(theta, x, h)
        normal = tf.matmul(j, j, transpose_a=True)
        right = tf.matmul(j, y - guess, transpose_a=True)
        for _ in range(4):
            lower = tf.linalg.cholesky(normal + damping * tf.eye(size, dtype=f64))
            step = tf.linalg.cholesky_solve(lower, right)[:, 0]
            new_h, new_guess = forward(theta + step, x)
            new_error = float(tf.reduce_sum((y - new_guess) ** 2))
            if new_error < error:
                theta, h, guess, error = theta + step, new_h, new_guess, new_error
                damping = max(damping / 3, 1e-9)
                break
            damping *= 4
        if round_ % 5 == 0:
            print(f"round {round_:3d}: rms {np.sqrt(error / SAMPLES):.6f} damping {damping:.1e}")
    return theta


if __name__ == "__main__":
    x, y = readings()
    theta = fit(x, y)
    np.save("magnetometer.npy", theta.numpy())
