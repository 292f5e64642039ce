"""RealNVP density of simulated interstellar dust spectra (32 channels)."""

import argparse
import os
import tempfile
import time

import numpy as np
import tensorflow as tf


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=270)
    p.add_argument("--burn-in", type=int, default=90)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--hidden", type=int, default=768)
    p.add_argument("--lr", type=float, default=2e-4)
    return p.parse_args()


def simulate(n, channels=32, seed=2):
    rng = np.random.default_rng(seed)
    nu = np.linspace(0.2, 3, channels)[None]
    temp = rng.uniform(0.3, 1.2, (n, 1))
    beta = rng.normal(1.6, 0.15, (n, 1))
    flux = nu ** (3 + beta) / np.expm1(nu / temp)
    flux = np.log(flux + 1e-3) + rng.normal(0, 0.05, (n, channels))
    return ((flux - flux.mean(0)) / flux.std(0)).astype("float32")


class Coupling(tf.Module):
    def __init__(self, dim, hidden, flip, name=None):
        super().__init__(name=name)
        self.flip = flip
        half = dim // 2
        sizes = [half, hidden, hidden, 2 * half]
        self.w = [
            tf.Variable(tf.random.normal([a, b]) * (0.01 if b == 2 * half else a**-0.5))
            for a, b in zip(sizes[:-1], sizes[1:])
        ]
        self.b = [tf.Variable(tf.zeros([b])) for b in sizes[1:]]

    def __call__(self, x):
        u, v = tf.split(x, 2, -1)
        if self.flip:
            u, v = v, u
        h = u
        for i in range(3):
            h = h @ self.w[i] + self.b[i]
            if i < 2:
                h = tf.nn.gelu(h)
        shift, log_scale = tf.split(h, 2, -1)
        log_scale = 2.0 * tf.tanh(log_scale / 2.0)
        v = v * tf.exp(log_scale) + shift
        out = tf.concat([v, u] if self.flip else [u, v], -1)
        return out, tf.reduce_sum(log_scale, -1)


class Flow(tf.Module):
    def __init__(self, dim, layers, hidden, name=None):
        super().__init__(name=name)
        self.couplings = [Coupling(dim, hidden, bool(i % 2)) for i in range(layers)]

    def nll(self, x):
        logdet = 0.0
        for c in self.couplings:
            x, ld = c(x)
            logdet += ld
        logp = -0.5 * tf.reduce_sum(x**2 + np.log(2 * np.pi).astype("float32"), -1)
        return -tf.reduce_mean(logp + logdet)


class BestKeeper:
    """Keeps the best flow by the exponentially smoothed likelihood."""

    def __init__(self, flow, opt, directory, burn_in):
        self.step = tf.Variable(0, dtype=tf.int64)
        ckpt = tf.train.Checkpoint(flow=flow, opt=opt, step=self.step)
        self.manager = tf.train.CheckpointManager(ckpt, directory, max_to_keep=2)
        self.burn_in = burn_in
        self.smooth = None
        self.best = float("inf")

    def offer(self, step, nll):
        self.smooth = nll if self.smooth is None else 0.95 * self.smooth + 0.05 * nll
        if step >= self.burn_in and self.smooth < self.best:
            self.best = self.smooth
            self.step.assign(step)
            self.manager.save(checkpoint_number=step)


def main():
    args = get_args()
    tf.random.set_seed(0)
    data = simulate(60_000)
    ds = (
        tf.data.Dataset.from_tensor_slices(data)
        .shuffle(20_000)
        .repeat()
        .batch(args.batch)
        .prefetch(2)
    )
    flow = Flow(data.shape[1], args.layers, args.hidden)
    opt = tf.keras.optimizers.Adam(args.lr)
    opt.build(flow.trainable_variables)

    @tf.function
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = flow.nll(x)
        grads = tape.gradient(loss, flow.trainable_variables)
        opt.apply_gradients(zip(grads, flow.trainable_variables))
        return loss

    with tempfile.TemporaryDirectory() as tmp:
        keeper = BestKeeper(flow, opt, os.path.join(tmp, "best"), args.burn_in)
        t0 = time.time()
        for step, x in enumerate(ds.take(args.steps)):
            nll = float(train_step(x))
            keeper.offer(step, nll)
            if step % 40 == 0:
                print(f"step {step} nll {nll:.3f} smooth {keeper.smooth:.3f}")
        print("train wall", round(time.time() - t0, 2))


if __name__ == "__main__":
    main()
