"""Predict the mineral mix of chondrites from reflectance spectra.

The network is kept smooth at first (penalty on the slope of the outputs with
respect to the spectrum, as the lab's noise model asks), then the penalty is
faded out so that narrow absorption bands can be fitted.
"""

import argparse
import time

import numpy as np
import tensorflow as tf


def make_spectra(n, bands, minerals, rng):
    centres = rng.uniform(0.1, 0.9, (minerals, 3))
    widths = rng.uniform(0.02, 0.08, (minerals, 3))
    grid = np.linspace(0, 1, bands)
    lib = np.zeros((minerals, bands))
    for m in range(minerals):
        for c, w in zip(centres[m], widths[m]):
            lib[m] += np.exp(-0.5 * ((grid - c) / w) ** 2)
    mix = rng.dirichlet(np.ones(minerals) * 0.7, n)
    spec = np.exp(-mix @ lib) + 0.01 * rng.standard_normal((n, bands))
    return spec.astype("float32"), mix.astype("float32")


class Dense(tf.Module):
    def __init__(self, n_in, n_out, gen):
        super().__init__()
        self.w = tf.Variable(gen.normal((n_in, n_out)) * (1.4 / n_in**0.5))
        self.b = tf.Variable(tf.zeros(n_out))

    def __call__(self, x):
        return x @ self.w + self.b


class Unmixer(tf.Module):
    def __init__(self, bands, width, minerals, gen):
        super().__init__()
        self.a = Dense(bands, width, gen)
        self.c = Dense(width, width, gen)
        self.d = Dense(width, width, gen)
        self.out = Dense(width, minerals, gen)

    def __call__(self, x):
        h = tf.nn.softplus(self.a(x))
        h = h + tf.nn.tanh(self.c(h))
        h = h + tf.nn.tanh(self.d(h))
        return self.out(h)


class Adam(tf.Module):
    def __init__(self, variables, lr):
        super().__init__()
        self.lr, self.t = lr, tf.Variable(0.0)
        self.m = [tf.Variable(tf.zeros_like(v)) for v in variables]
        self.v = [tf.Variable(tf.zeros_like(v)) for v in variables]

    def apply(self, grads, variables):
        self.t.assign_add(1.0)
        scale = self.lr * tf.sqrt(1 - 0.999**self.t) / (1 - 0.9**self.t)
        for g, x, m, v in zip(grads, variables, self.m, self.v):
            m.assign(0.9 * m + 0.1 * g)
            v.assign(0.999 * v + 0.001 * g * g)
            x.assign_sub(scale * m / (tf.sqrt(v) + 1e-7))


def slope(net, x, probes=3):
    total = 0.0
    for _ in range(probes):
        with tf.GradientTape() as inner:
            inner.watch(x)
            out = net(x)
            seen = tf.reduce_sum(out * tf.random.normal(tf.shape(out)))
        dx = inner.gradient(seen, x)
        total += tf.reduce_mean(tf.reduce_sum(dx * dx, axis=1))
    return total / probes


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=220)
    p.add_argument("--batch", type=int, default=512)
    p.add_argument("--width", type=int, default=512)
    p.add_argument("--fade", type=int, default=40, help="steps until the penalty is gone")
    a = p.parse_args()
    rng = np.random.default_rng(31)
    tf.random.set_seed(31)
    gen = tf.random.Generator.from_seed(31)
    spec, mix = make_spectra(8192, 256, 9, rng)
    spec, mix = tf.constant(spec), tf.constant(mix)
    net = Unmixer(256, a.width, 9, gen)
    params = list(net.trainable_variables)
    opt = Adam(params, 4e-4)

    @tf.function(jit_compile=False)
    def train(idx, weight):
        x, y = tf.gather(spec, idx), tf.gather(mix, idx)
        with tf.GradientTape() as tape:
            fit = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(y, net(x)))
            loss = fit + weight * slope(net, x)
        opt.apply(tape.gradient(loss, params), params)
        return fit

    t0 = time.time()
    for step in range(a.steps):
        weight = 0.02 * max(0.0, 1.0 - step / a.fade)
        idx = rng.integers(0, 8192, a.batch)
        fit = train(tf.constant(idx, tf.int32), tf.constant(weight, tf.float32))
        if step % 40 == 0:
            print(f"step {step:4d} weight {weight:.4f} cross entropy {float(fit):.4f}")
    print(f"done, {time.time() - t0:.2f} s of training")


if __name__ == "__main__":
    main()
