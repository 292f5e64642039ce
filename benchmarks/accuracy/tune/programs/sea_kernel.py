"""Deep-kernel sparse GP on synthetic sea surface temperature anomalies.

x = (lat, lon, day, depth, wind u/v), y = anomaly in K.
"""

import math
import time

import numpy as np
import tensorflow as tf

SEED = 11
N_OBS = 40_000
BATCH = 4096
N_INDUCING = 160
STEPS = 64

rng = np.random.default_rng(SEED)
tf.random.set_seed(SEED)


def simulate_observations(n):
    lat = rng.uniform(-60, 60, n)
    lon = rng.uniform(-180, 180, n)
    day = rng.uniform(0, 365, n)
    depth = rng.exponential(20, n)
    wind = rng.normal(0, 6, (n, 2))
    y = (
        1.4 * np.sin(np.radians(3 * lat)) * np.cos(np.radians(lon))
        + 0.7 * np.sin(2 * np.pi * day / 365) * np.sign(lat)
        - 0.01 * depth
        + 0.03 * np.abs(wind).sum(1)
    )
    y += rng.normal(0, 0.2, n)
    x = np.column_stack([lat / 60, lon / 180, day / 365, depth / 40, wind / 10])
    return x.astype("float32"), y.astype("float32")


class FeatureNet(tf.Module):
    def __init__(self, sizes, name=None):
        super().__init__(name=name)
        self.layers = []
        for a, b in zip(sizes[:-1], sizes[1:]):
            w = tf.Variable(tf.random.normal([a, b]) * math.sqrt(2.0 / a))
            self.layers.append((w, tf.Variable(tf.zeros([b]))))

    def __call__(self, x):
        for i, (w, b) in enumerate(self.layers):
            x = x @ w + b
            if i < len(self.layers) - 1:
                x = tf.nn.silu(x)
        return x


class DeepKernelGP(tf.Module):
    def __init__(self, dim, name=None):
        super().__init__(name=name)
        self.net = FeatureNet([dim, 256, 256, 256, 6])
        self.z = tf.Variable(tf.random.normal([N_INDUCING, 6]))
        self.m = tf.Variable(tf.zeros([N_INDUCING, 1]))
        self.raw_l = tf.Variable(tf.eye(N_INDUCING))
        self.log_amp = tf.Variable(0.0)
        self.log_len = tf.Variable(tf.zeros([6]))
        self.log_noise = tf.Variable(-1.0)

    def kernel(self, a, b):
        a = a / tf.exp(self.log_len)
        b = b / tf.exp(self.log_len)
        d2 = (
            tf.reduce_sum(a * a, 1)[:, None]
            + tf.reduce_sum(b * b, 1)[None]
            - 2.0 * tf.matmul(a, b, transpose_b=True)
        )
        return tf.exp(2 * self.log_amp - 0.5 * tf.nn.relu(d2))

    def negative_elbo(self, x, y):
        h = self.net(x)
        kzz = self.kernel(self.z, self.z) + 1e-3 * tf.eye(N_INDUCING)
        lz = tf.linalg.cholesky(kzz)
        a = tf.linalg.triangular_solve(lz, self.kernel(self.z, h))
        lq = tf.linalg.band_part(self.raw_l, -1, 0)
        mean = tf.matmul(a, self.m, transpose_a=True)[:, 0]
        var = (
            tf.exp(2 * self.log_amp)
            - tf.reduce_sum(a * a, 0)
            + tf.reduce_sum(tf.matmul(lq, a, transpose_a=True) ** 2, 0)
        )
        noise = tf.exp(2 * self.log_noise)
        ll = -0.5 * (tf.math.log(2 * math.pi * noise) + ((y - mean) ** 2 + tf.nn.relu(var)) / noise)
        kl = 0.5 * (
            tf.reduce_sum(lq**2)
            + tf.reduce_sum(self.m**2)
            - N_INDUCING
            - tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lq) ** 2 + 1e-6))
        )
        return -tf.reduce_mean(ll) + kl / N_OBS


def make_closure(gp, xb, yb):
    """Loss-and-gradient closure in the style scipy and torch optimisers want."""

    @tf.function
    def closure():
        with tf.GradientTape() as tape:
            loss = gp.negative_elbo(xb, yb)
        return loss, tape.gradient(loss, gp.trainable_variables)

    return closure


class ClosureAdam:
    def __init__(self, params, lr):
        self.params = params
        self.opt = tf.keras.optimizers.Adam(lr)
        self.opt.build(params)

    def step(self, closure):
        loss, grads = closure()
        grads, _ = tf.clip_by_global_norm(grads, 5.0)
        self.opt.apply_gradients(zip(grads, self.params))
        return loss


if __name__ == "__main__":
    x, y = simulate_observations(N_OBS)
    gp = DeepKernelGP(x.shape[1])
    optimizer = ClosureAdam(gp.trainable_variables, 3e-3)
    t0 = time.time()
    for step in range(STEPS):
        idx = rng.integers(0, N_OBS, BATCH)
        closure = make_closure(gp, tf.constant(x[idx]), tf.constant(y[idx]))
        loss = optimizer.step(closure)
        if step % 10 == 0:
            print(f"{step:4d}  -elbo {float(loss):.4f}  noise {math.exp(gp.log_noise.numpy()):.3f}")
    print("train wall", round(time.time() - t0, 2))
