"""Variational Bayesian regressions of amphora volumes; three priors are compared in turn."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf


def amphorae(n, seed):
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 1, (n, 24)).astype(np.float32)
    vol = x[:, 0] * x[:, 1] + np.sin(2 * x[:, 2]) + 0.5 * np.maximum(x[:, 3], 0) ** 2
    return x, (vol + rng.normal(0, 0.2, n)).astype(np.float32)


class BayesDense(tf.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.mu = tf.Variable(tf.random.normal([n_in, n_out]) * (1.0 / n_in) ** 0.5)
        self.rho = tf.Variable(tf.fill([n_in, n_out], -5.0))
        self.bias = tf.Variable(tf.zeros([n_out]))

    def __call__(self, x, prior):
        """Local reparametrisation: noise on the activations, not on the weights."""
        var = tf.square(tf.nn.softplus(self.rho))
        mean = x @ self.mu + self.bias
        std = tf.sqrt(tf.square(x) @ var + 1e-8)
        kl = 0.5 * tf.reduce_sum(
            (var + self.mu**2) / prior**2 - 1.0 - tf.math.log(var) + 2 * tf.math.log(prior)
        )
        return mean + std * tf.random.normal(tf.shape(mean)), kl

    def reset(self):
        self.mu.assign(tf.random.normal(self.mu.shape) * (1.0 / self.mu.shape[0]) ** 0.5)
        self.rho.assign(tf.fill(self.rho.shape, -5.0))
        self.bias.assign(tf.zeros_like(self.bias))


class Potter(tf.Module):
    def __init__(self, widths):
        super().__init__()
        self.layers = [BayesDense(a, b) for a, b in zip(widths, widths[1:])]
        self.noise = tf.Variable(-1.0)

    def __call__(self, x, prior):
        total = 0.0
        for i, layer in enumerate(self.layers):
            x, kl = layer(x, prior)
            total += kl
            if i < len(self.layers) - 1:
                x = tf.nn.relu(x)
        return x[:, 0], total


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--steps", type=int, default=170)
    ap.add_argument("--priors", type=float, nargs="*", default=[0.3, 1.0, 3.0])
    args = ap.parse_args()
    tf.random.set_seed(97)
    x, y = amphorae(6000, 97)
    xt, yt = map(tf.constant, amphorae(800, 98))
    data = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(6000, seed=4)
        .repeat()
        .batch(args.batch)
        .prefetch(2)
    )
    net = Potter([24, 512, 512, 1])
    params = list(net.trainable_variables)
    opt = tf.keras.optimizers.Adam(1e-3)
    opt.build(params)
    n = float(len(x))

    @tf.function
    def ascend(bx, by, prior, warm):
        with tf.GradientTape() as tape:
            pred, kl = net(bx, prior)
            s = tf.exp(net.noise)
            nll = tf.reduce_mean(0.5 * ((by - pred) / s) ** 2 + net.noise)
            loss = nll + warm * kl / n
        opt.apply_gradients(zip(tape.gradient(loss, params), params))
        return nll, kl

    @tf.function
    def rmse(prior):
        votes = [net(xt, prior)[0] for _ in range(5)]
        return tf.sqrt(tf.reduce_mean((tf.add_n(votes) / 5.0 - yt) ** 2))

    t0 = time.time()
    stream = iter(data)
    for p in args.priors:
        prior = tf.constant(p)
        for layer in net.layers:
            layer.reset()
        net.noise.assign(-1.0)
        for v in opt.variables:
            if "learning_rate" not in v.path:
                v.assign(tf.zeros_like(v.value))
        for k in range(args.steps):
            warm = tf.constant(min(1.0, k / 60) * 0.05)
            nll, kl = ascend(*next(stream), prior, warm)
        print(
            f"prior {p:4.1f}: nll {float(nll):.4f} kl {float(kl):9.1f} "
            f"test rmse {float(rmse(prior)):.4f}  {time.time() - t0:.1f}s"
        )
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
