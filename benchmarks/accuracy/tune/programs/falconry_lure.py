"""Predict the stoop speed of trained falcons from lure-flight telemetry.

A wide trunk was trained last season by the club; only the head and the
small bird-specific adapter are trained here.
"""

import argparse
import gc
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf


class FlightRecord:
    __slots__ = ("bird", "wind", "samples", "notes")

    def __init__(self, bird, wind, samples, notes):
        self.bird = bird
        self.wind = wind
        self.samples = samples
        self.notes = notes


def build_logbook(n, rng):
    book = []
    winds = rng.gamma(2.0, 3.0, n)
    for i in range(n):
        notes = {"perch": [i % 7], "jesses": ["l", "r"], "weather": {"t": i % 30}}
        book.append(FlightRecord(i % 40, float(winds[i]), [i, i + 1], notes))
    return book


def telemetry(n, width, rng):
    x = rng.normal(size=(n, width)).astype("float32")
    w = rng.normal(size=(width, 1)).astype("float32") / np.sqrt(width)
    y = np.tanh(x @ w) * 30 + 60 + rng.normal(size=(n, 1))
    return x, y.astype("float32")


class Trunk(tf.Module):
    def __init__(self, width, depth, seed):
        super().__init__()
        r = np.random.default_rng(seed)
        self.ws = [
            tf.Variable(
                (r.normal(size=(width, width)) / np.sqrt(width)).astype("float32"),
                name=f"trunk_{i}",
            )
            for i in range(depth)
        ]

    def __call__(self, x):
        for w in self.ws:
            x = tf.nn.relu(x @ w) + 0.5 * x
        return x


class Head(tf.Module):
    def __init__(self, width, seed):
        super().__init__()
        r = np.random.default_rng(seed)
        self.w1 = tf.Variable((r.normal(size=(width, 64)) / np.sqrt(width)).astype("float32"))
        self.b1 = tf.Variable(tf.zeros(64))
        self.w2 = tf.Variable((r.normal(size=(64, 1)) / 8).astype("float32"))
        self.b2 = tf.Variable([60.0])

    def __call__(self, h):
        return tf.nn.relu(h @ self.w1 + self.b1) @ self.w2 + self.b2


def make_step(trunk, head, opt):
    head_vars = list(head.trainable_variables)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            pred = head(trunk(x))
            loss = tf.reduce_mean(tf.square(pred - y))
        everything = list(trunk.ws[4:]) + head_vars
        grads = tape.gradient(loss, everything)
        norm = tf.linalg.global_norm(grads)
        opt.apply_gradients(zip(grads[-len(head_vars) :], head_vars))
        return loss, norm

    return step


def tidy(batch_notes):
    batch_notes.clear()
    return gc.collect()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--width", type=int, default=768)
    ap.add_argument("--seed", type=int, default=11)
    args = ap.parse_args()
    tf.keras.utils.set_random_seed(args.seed)
    rng = np.random.default_rng(args.seed)

    logbook = build_logbook(12000, rng)
    x, y = telemetry(8192, args.width, rng)
    ds = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(8192, seed=args.seed)
        .batch(args.batch, drop_remainder=True)
        .prefetch(2)
    )
    trunk = Trunk(args.width, 8, args.seed)
    head = Head(args.width, args.seed + 1)
    opt = tf.keras.optimizers.Adam(1e-3)
    step = make_step(trunk, head, opt)

    for epoch in range(args.epochs):
        total, biggest, notes = 0.0, 0.0, []
        for xb, yb in ds:
            loss, norm = step(xb, yb)
            total += float(loss)
            biggest = max(biggest, float(norm))
            notes.append((float(loss), logbook[epoch].wind))
            if len(notes) >= 5:
                tidy(notes)
        print(f"epoch {epoch}: mse {total / len(ds):.2f}  max gradient norm {biggest:.1f}")
    print("flights in the logbook:", len(logbook))


if __name__ == "__main__":
    main()
