"""Sequential ore survey: a Gaussian process is refitted as new drill holes come in."""

import math
import time

import numpy as np
import tensorflow as tf

tf.random.set_seed(2)
F = tf.float64


def ore_grade(xyz, rng):
    vein = np.exp(-8 * (xyz[:, 0] - 0.3 * np.sin(5 * xyz[:, 1]) - 0.3) ** 2)
    return (
        vein * (1.2 - xyz[:, 2])
        + 0.3 * np.sin(9 * xyz[:, 1] + 4 * xyz[:, 2])
        + 0.05 * rng.normal(size=len(xyz))
    )


class GaussianProcess(tf.Module):
    def __init__(self, dims):
        super().__init__()
        self.log_scale = tf.Variable(tf.fill([dims], tf.constant(0.0, F)))
        self.log_gain = tf.Variable(tf.constant(0.0, F))
        self.log_noise = tf.Variable(tf.constant(-1.0, F))
        self.slots = [
            [tf.Variable(tf.zeros_like(p), trainable=False) for _ in range(2)]
            for p in self.trainable_variables
        ]
        self.t = 0

    def kernel(self, a, b):
        a, b = a * tf.exp(-self.log_scale), b * tf.exp(-self.log_scale)
        sq = (
            tf.reduce_sum(a * a, 1)[:, None]
            + tf.reduce_sum(b * b, 1)[None]
            - 2.0 * tf.matmul(a, b, transpose_b=True)
        )
        return tf.exp(2.0 * self.log_gain - 0.5 * tf.maximum(sq, 0.0))

    def factor(self, x):
        k = self.kernel(x, x)
        noise = tf.exp(2.0 * self.log_noise) + 1e-6
        return tf.linalg.cholesky(tf.linalg.set_diag(k, tf.linalg.diag_part(k) + noise))

    def evidence(self, x, y):
        """Negative log marginal likelihood per observation."""
        chol = self.factor(x)
        white = tf.linalg.triangular_solve(chol, y[:, None])
        n = tf.cast(tf.shape(y)[0], F)
        logdet = tf.reduce_sum(tf.math.log(tf.linalg.diag_part(chol)))
        return 0.5 * tf.reduce_sum(white * white) / n + logdet / n + 0.5 * math.log(2 * math.pi)

    def climb(self, x, y, lr=0.08):
        with tf.GradientTape() as tape:
            loss = self.evidence(x, y)
        params = self.trainable_variables
        self.t += 1
        for p, g, (m, v) in zip(params, tape.gradient(loss, params), self.slots):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.98 * v + 0.02 * g * g)
            p.assign_sub(lr * (m / (1 - 0.9**self.t)) / (tf.sqrt(v / (1 - 0.98**self.t)) + 1e-8))
        return float(loss)

    def predict(self, x, y, grid):
        chol = self.factor(x)
        cross = tf.linalg.triangular_solve(chol, self.kernel(x, grid))
        white = tf.linalg.triangular_solve(chol, y[:, None])
        mean = tf.linalg.matvec(cross, white[:, 0], transpose_a=True)
        spread = tf.exp(2.0 * self.log_gain) - tf.reduce_sum(cross * cross, 0)
        return mean.numpy(), spread.numpy()


def choose_holes(spread, pool, count, rng):
    """The most uncertain sites, with a little chance so that they are not all neighbours."""
    score = np.log(np.maximum(spread, 1e-9)) + 0.3 * rng.gumbel(size=len(pool))
    picks = np.argsort(-score)[:count]
    return pool[picks], np.delete(pool, picks, axis=0)


def main(start=300, per_campaign=100, campaigns=9, climbs=12):
    rng = np.random.default_rng(2)
    pool = rng.uniform(size=(3000, 3))
    holes, pool = pool[:start], pool[start:]
    grade = ore_grade(holes, rng)
    test = rng.uniform(size=(500, 3))
    truth = ore_grade(test, rng)
    gp = GaussianProcess(3)
    for campaign in range(1, campaigns + 1):
        began = time.perf_counter()
        x, y = tf.constant(holes, F), tf.constant(grade, F)
        path = [gp.climb(x, y) for _ in range(climbs)]
        mean, spread = gp.predict(x, y, tf.constant(np.concatenate([test, pool]), F))
        rmse = np.sqrt(np.mean((mean[:500] - truth) ** 2))
        print(
            f"campaign {campaign}: {len(holes):4d} holes  nll {path[0]:+.4f} -> {path[-1]:+.4f}  "
            f"rmse {rmse:.4f}  noise {float(tf.exp(gp.log_noise)):.3f}  "
            f"({time.perf_counter() - began:.2f}s)",
            flush=True,
        )
        fresh, pool = choose_holes(spread[500:], pool, per_campaign, rng)
        holes = np.concatenate([holes, fresh])
        grade = np.concatenate([grade, ore_grade(fresh, rng)])


if __name__ == "__main__":
    main()
