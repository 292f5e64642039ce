"""Active learning of alloy hardness: an exact Gaussian process is refitted in every round
and asks for the compositions it knows least about."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import time

import numpy as np
import tensorflow as tf

ELEMENTS = 6
POOL = 4000
START = 60
ASK = 60
ROUNDS = 16
FIT_STEPS = 25

F64 = tf.float64
X_SPEC = tf.TensorSpec([None, ELEMENTS], F64)
Y_SPEC = tf.TensorSpec([None], F64)


def hardness(x, rng):
    y = np.sin(5 * x[:, 0] + 2 * x[:, 1]) + 2 * x[:, 2] * x[:, 3] - np.cos(4 * x[:, 4]) * x[:, 5]
    return y + 0.05 * rng.normal(size=len(x))


class GaussianProcess(tf.Module):
    def __init__(self):
        super().__init__()
        self.log_length = tf.Variable(np.full(ELEMENTS, np.log(0.5)), dtype=F64)
        self.log_scale = tf.Variable(0.0, dtype=F64)
        self.log_noise = tf.Variable(np.log(0.2), dtype=F64)
        self.params = [self.log_length, self.log_scale, self.log_noise]
        self.m = [tf.Variable(tf.zeros_like(p)) for p in self.params]
        self.v = [tf.Variable(tf.zeros_like(p)) for p in self.params]
        self.t = tf.Variable(0.0, dtype=F64)

    def kernel(self, a, b):
        a, b = a / tf.exp(self.log_length), b / tf.exp(self.log_length)
        d2 = (
            tf.reduce_sum(a * a, 1)[:, None]
            + tf.reduce_sum(b * b, 1)[None, :]
            - 2 * tf.matmul(a, b, transpose_b=True)
        )
        return tf.exp(2 * self.log_scale - 0.5 * tf.maximum(d2, 0.0))

    def factor(self, x):
        n = tf.shape(x)[0]
        noise = tf.exp(2 * self.log_noise) + 1e-6
        return tf.linalg.cholesky(self.kernel(x, x) + noise * tf.eye(n, dtype=F64))

    def evidence(self, x, y):
        chol = self.factor(x)
        alpha = tf.linalg.triangular_solve(chol, y[:, None])
        logdet = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        n = tf.cast(tf.shape(x)[0], F64)
        return (0.5 * tf.reduce_sum(alpha**2) + logdet + 0.5 * n * np.log(2 * np.pi)) / n

    @tf.function(input_signature=[X_SPEC, Y_SPEC])
    def fit_step(self, x, y):
        with tf.GradientTape() as tape:
            value = self.evidence(x, y)
        grads = tape.gradient(value, self.params)
        self.t.assign_add(1.0)
        for p, g, m, v in zip(self.params, grads, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.99 * v + 0.01 * g * g)
            m_hat, v_hat = m / (1 - 0.9**self.t), v / (1 - 0.99**self.t)
            p.assign_sub(0.04 * m_hat / (tf.sqrt(v_hat) + 1e-8))
        return value

    @tf.function(input_signature=[X_SPEC, Y_SPEC, X_SPEC])
    def predict(self, x, y, new):
        chol = self.factor(x)
        cross = self.kernel(x, new)
        w = tf.linalg.triangular_solve(chol, cross)
        mean = tf.matmul(w, tf.linalg.triangular_solve(chol, y[:, None]), transpose_a=True)[:, 0]
        var = tf.exp(2 * self.log_scale) - tf.reduce_sum(w * w, axis=0)
        return mean, tf.maximum(var, 1e-9)


def main():
    rng = np.random.default_rng(41)
    pool_x = rng.dirichlet(np.ones(ELEMENTS), POOL) * 2.0
    pool_y = hardness(pool_x, rng)
    test_x = rng.dirichlet(np.ones(ELEMENTS), 600) * 2.0
    test_y = hardness(test_x, rng)
    mean, std = pool_y.mean(), pool_y.std()
    pool_y, test_y = (pool_y - mean) / std, (test_y - mean) / std

    known = np.zeros(POOL, bool)
    known[rng.choice(POOL, START, replace=False)] = True
    gp = GaussianProcess()
    for round_ in range(ROUNDS):
        began = time.perf_counter()
        x, y = tf.constant(pool_x[known]), tf.constant(pool_y[known])
        for _ in range(FIT_STEPS):
            value = gp.fit_step(x, y)
        guess, _ = gp.predict(x, y, tf.constant(test_x))
        rmse = np.sqrt(np.mean((guess.numpy() - test_y) ** 2))
        print(
            f"round {round_ + 1:2d}  measured {known.sum():4d}  neg. log evidence {float(value):7.4f}"
            f"  rmse {rmse:.4f}  noise {np.exp(gp.log_noise.numpy()):.3f}"
            f"  {time.perf_counter() - began:.2f} s",
            flush=True,
        )
        open_rows = np.flatnonzero(~known)
        _, var = gp.predict(x, y, tf.constant(pool_x[open_rows]))
        keys = np.log(var.numpy()) + 0.3 * rng.gumbel(size=len(open_rows))
        known[open_rows[np.argsort(-keys)[:ASK]]] = True
    print("relevance of the elements:", np.round(np.exp(-gp.log_length.numpy()), 2))


if __name__ == "__main__":
    main()
