"""Salinity along an estuary: a neural feature map under a Gaussian process.
The marginal likelihood of a random window of casts is maximised."""

import numpy as np
import tensorflow as tf

WINDOW = 320
STEPS = 1500


def casts(n, seed):
    rng = np.random.default_rng(seed)
    km = rng.uniform(0, 60, n)
    hour = rng.uniform(0, 24 * 30, n)
    depth = rng.uniform(0, 18, n)
    tide = np.sin(2 * np.pi * hour / 12.42)
    front = 25 + 6 * tide + 0.4 * depth
    s = 34 / (1 + np.exp((km - front) / 5)) + rng.normal(0, 0.4, n)
    x = np.stack([km / 60, depth / 18, tide, np.cos(2 * np.pi * hour / 12.42)], 1)
    return x.astype("float32"), ((s - s.mean()) / s.std()).astype("float32")


class DeepKernel(tf.Module):
    def __init__(self, inputs=4, hidden=64, out=6):
        super().__init__()
        init = tf.random.stateless_normal
        self.w1 = tf.Variable(init((inputs, hidden), (1, 1)) * 0.5)
        self.b1 = tf.Variable(tf.zeros(hidden))
        self.w2 = tf.Variable(init((hidden, out), (1, 2)) * 0.2)
        self.log_amp = tf.Variable(0.0)
        self.log_noise = tf.Variable(-1.0)

    def features(self, x):
        return tf.tanh(x @ self.w1 + self.b1) @ self.w2

    def cov(self, a, b):
        fa, fb = self.features(a), self.features(b)
        sq = (
            tf.reduce_sum(fa**2, 1)[:, None]
            + tf.reduce_sum(fb**2, 1)[None]
            - 2 * tf.matmul(fa, fb, transpose_b=True)
        )
        return tf.exp(self.log_amp - 0.5 * tf.nn.relu(sq))

    def noise(self):
        return tf.exp(self.log_noise) + 1e-3


kernel = DeepKernel()
opt = tf.keras.optimizers.Adam(5e-3)


def neg_log_marginal(x, y):
    k = kernel.cov(x, x) + kernel.noise() * tf.eye(WINDOW)
    precision = tf.linalg.inv(k)
    fit = tf.reduce_sum(y * tf.linalg.matvec(precision, y))
    logdet = tf.reduce_sum(tf.math.log(tf.linalg.eigvalsh(k)))
    return 0.5 * (fit + logdet) / WINDOW


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        loss = neg_log_marginal(x, y)
    v = kernel.trainable_variables
    opt.apply_gradients(zip(tape.gradient(loss, v), v))
    return loss


@tf.function
def posterior_mean(xq, x, y):
    k = kernel.cov(x, x) + kernel.noise() * tf.eye(WINDOW)
    chol = tf.linalg.cholesky(k)
    return tf.squeeze(kernel.cov(xq, x) @ tf.linalg.cholesky_solve(chol, y[:, None]), 1)


def main():
    rng = np.random.default_rng(3)
    x, y = casts(20_000, 1)
    xq, yq = x[-500:], y[-500:]
    for i in range(STEPS):
        pick = rng.integers(0, len(x) - 500, WINDOW)
        loss = step(tf.constant(x[pick]), tf.constant(y[pick]))
        if i % 150 == 0:
            mu = posterior_mean(tf.constant(xq), tf.constant(x[pick]), tf.constant(y[pick]))
            rmse = float(tf.sqrt(tf.reduce_mean((mu - yq) ** 2)))
            print(i, "nlml", round(float(loss), 4), "rmse", round(rmse, 4), flush=True)


if __name__ == "__main__":
    main()
