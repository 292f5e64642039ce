"""Discrete codes for moth wing patterns (Gumbel-softmax autoencoder)."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import argparse
import time

import numpy as np
import tensorflow as tf


def wing_patterns(n, side, rng):
    yy, xx = np.mgrid[0:side, 0:side] / side
    out = np.empty((n, side * side), np.float32)
    for i in range(n):
        cx, cy, r = rng.uniform(0.2, 0.8, 3)
        f = rng.integers(2, 7)
        d = np.sqrt((xx - cx) ** 2 + (yy - cy) ** 2)
        out[i] = (0.5 + 0.5 * np.cos(2 * np.pi * f * d / r)).ravel()
    return out + rng.normal(0, 0.03, out.shape).astype(np.float32)


class Dense(tf.Module):
    def __init__(self, n_in, n_out, act=None, name=None):
        super().__init__(name)
        self.w = tf.Variable(tf.random.normal([n_in, n_out]) * (2.0 / n_in) ** 0.5)
        self.b = tf.Variable(tf.zeros([n_out]))
        self.act = act or tf.identity

    def __call__(self, x):
        return self.act(x @ self.w + self.b)


class MothCoder(tf.Module):
    def __init__(self, dim, hidden, slots, codes):
        super().__init__()
        self.slots, self.codes = slots, codes
        self.enc = [
            Dense(dim, hidden, tf.nn.relu),
            Dense(hidden, hidden, tf.nn.relu),
            Dense(hidden, slots * codes),
        ]
        self.dec = [
            Dense(slots * codes, hidden, tf.nn.relu),
            Dense(hidden, hidden, tf.nn.relu),
            Dense(hidden, dim),
        ]

    def logits(self, x):
        for layer in self.enc:
            x = layer(x)
        return tf.reshape(x, [-1, self.slots, self.codes])

    def decode(self, z):
        x = tf.reshape(z, [-1, self.slots * self.codes])
        for layer in self.dec:
            x = layer(x)
        return x


def temperature(step, args):
    if step < args.hold:
        return 1.0
    return round(max(0.72, 1.0 - 0.002 * (step - args.hold)), 2)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=620)
    ap.add_argument("--hold", type=int, default=260)
    ap.add_argument("--batch", type=int, default=256)
    args = ap.parse_args()
    tf.random.set_seed(3)
    rng = np.random.default_rng(3)
    data = tf.constant(wing_patterns(3000, 20, rng))
    net = MothCoder(400, 512, 16, 12)
    opt = tf.keras.optimizers.Adam(1e-3)
    weights = list(net.trainable_variables)
    opt.build(weights)

    @tf.function
    def update(idx, tau):
        x = tf.gather(data, idx)
        with tf.GradientTape() as tape:
            logits = net.logits(x)
            u = tf.random.uniform(tf.shape(logits), 1e-6, 1.0 - 1e-6)
            z = tf.nn.softmax((logits - tf.math.log(-tf.math.log(u))) / tau)
            rec = tf.reduce_mean(tf.reduce_sum((net.decode(z) - x) ** 2, -1))
            q = tf.nn.softmax(logits)
            kl = tf.reduce_sum(q * (tf.nn.log_softmax(logits) + np.log(12.0)), [1, 2])
            loss = rec + 0.1 * tf.reduce_mean(kl)
        grads = tape.gradient(loss, weights)
        opt.apply_gradients(zip(grads, weights))
        return rec, tf.reduce_mean(kl)

    t0 = time.time()
    for step in range(args.steps):
        idx = rng.integers(0, 3000, args.batch).astype(np.int32)
        tau = temperature(step, args)
        rec, kl = update(tf.constant(idx), tau)
        if step % 40 == 0:
            print(
                f"step {step:4d} tau {tau:.2f} rec {float(rec):8.3f} kl {float(kl):7.3f}"
                f"  {time.time() - t0:5.1f}s"
            )
    print("final reconstruction", float(rec))
    print("TRAIN_SECONDS %.2f" % (time.time() - t0))


if __name__ == "__main__":
    main()
