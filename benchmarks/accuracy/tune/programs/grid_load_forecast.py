"""Day-ahead forecast of the electric load with a GRU encoder-decoder.

Gradients are accumulated over micro batches; after some epochs the micro
batch is doubled.  Validation decides about learning rate and stopping.
"""

import argparse
import time

import numpy as np
import tensorflow as tf

PAST, AHEAD, FEATURES = 96, 24, 5


def make_series(days, seed=0):
    rng = np.random.default_rng(seed)
    h = np.arange(days * 24)
    temp = 12 + 9 * np.sin(2 * np.pi * h / 8766) + 4 * np.sin(2 * np.pi * (h - 9) / 24)
    walk = np.convolve(rng.normal(size=len(h)), np.ones(36) / 6, mode="same")
    temp = temp + 1.5 * walk
    weekend = ((h // 24) % 7 >= 5).astype(float)
    load = 50 + 9 * np.sin(2 * np.pi * (h - 8) / 24) + 4 * np.sin(4 * np.pi * h / 24)
    load = load * (1 - 0.15 * weekend) + 0.05 * (temp - 16) ** 2 + rng.normal(size=len(h))
    daily = 2 * np.pi * h / 24
    table = np.stack([(load - 55) / 12, (temp - 12) / 8, weekend, np.sin(daily), np.cos(daily)], 1)
    return table.astype("float32")


def windows(table, first, last, stride):
    starts = np.arange(first, last - PAST - AHEAD, stride)
    past = table[starts[:, None] + np.arange(PAST)]
    ahead = table[starts[:, None] + PAST + np.arange(AHEAD)]
    recency = np.linspace(0.5, 1.5, len(starts)).astype("float32")
    return past, ahead[..., 1:], ahead[..., 0], recency


def build(units):
    past = tf.keras.Input((PAST, FEATURES))
    known = tf.keras.Input((AHEAD, FEATURES - 1))
    mixed = tf.keras.layers.Conv1D(units, 4, strides=4, activation="relu")(past)
    state = tf.keras.layers.GRU(units)(mixed)
    out = tf.keras.layers.GRU(units, return_sequences=True)(known, initial_state=state)
    out = tf.keras.layers.Dense(1)(out)
    return tf.keras.Model([past, known], out[..., 0])


class Forecaster:
    def __init__(self, args):
        self.args = args
        self.model = build(args.units)
        self.opt = tf.keras.optimizers.Adam(args.lr)
        self.sums = [
            tf.Variable(tf.zeros_like(v), trainable=False) for v in self.model.trainable_variables
        ]
        batch = [(None, PAST, FEATURES), (None, AHEAD, FEATURES - 1), (None, AHEAD), (None,)]
        spec = [tf.TensorSpec(s) for s in batch]
        self.accumulate = tf.function(self._accumulate, input_signature=spec)
        self.apply = tf.function(self._apply)
        self.score = tf.function(self._score, input_signature=spec[:3])

    def _accumulate(self, past, known, load, weight):
        with tf.GradientTape() as tape:
            error = self.model([past, known], training=True) - load
            per_row = tf.reduce_mean(tf.math.log(tf.cosh(error)), axis=1)
            loss = tf.reduce_sum(per_row * weight) / tf.reduce_sum(weight)
        for s, g in zip(self.sums, tape.gradient(loss, self.model.trainable_variables)):
            s.assign_add(g)
        return loss

    def _apply(self):
        grads = [s / self.args.accumulate for s in self.sums]
        grads, norm = tf.clip_by_global_norm(grads, 1.0)
        self.opt.apply_gradients(zip(grads, self.model.trainable_variables))
        for s in self.sums:
            s.assign(tf.zeros_like(s))
        return norm

    def _score(self, past, known, load):
        return tf.reduce_mean(tf.abs(self.model([past, known], training=False) - load))

    def fit(self, train, val):
        rng = np.random.default_rng(4)
        best, best_weights, stale, size = np.inf, None, 0, self.args.batch
        for epoch in range(1, self.args.epochs + 1):
            if epoch == self.args.double_at:
                size *= 2
                print(f"micro batch is now {size}")
            began, losses = time.perf_counter(), []
            order = rng.permutation(len(train[0]))
            steps = len(order) // (size * self.args.accumulate) * self.args.accumulate
            for k in range(steps):
                rows = order[k * size : (k + 1) * size]
                losses.append(self.accumulate(*(a[rows] for a in train)))
                if (k + 1) % self.args.accumulate == 0:
                    self.apply()
            mae = 12 * float(self.score(*val[:3]))
            print(
                f"epoch {epoch:2d}  loss {np.mean([float(v) for v in losses]):.4f}  "
                f"val MAE {mae:.3f} MW  {time.perf_counter() - began:.2f} s",
                flush=True,
            )
            if mae < best:
                best, best_weights, stale = mae, self.model.get_weights(), 0
            else:
                stale += 1
                if stale == 2:
                    self.opt.learning_rate.assign(self.opt.learning_rate * 0.5)
                if stale == 5:
                    print("no progress, stopping")
                    break
        self.model.set_weights(best_weights)
        return best


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--units", type=int, default=48)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--accumulate", type=int, default=4)
    p.add_argument("--epochs", type=int, default=14)
    p.add_argument("--double-at", type=int, default=7)
    args = p.parse_args()
    tf.keras.utils.set_random_seed(1)
    table = make_series(560)
    cut = 470 * 24
    train, val = windows(table, 0, cut, 3), windows(table, cut, len(table), 12)
    print(f"{len(train[0])} training windows, {len(val[0])} validation windows")
    best = Forecaster(args).fit(train, val)
    naive = 12 * np.mean(np.abs(val[0][:, -AHEAD:, 0] - val[2]))
    print(f"best val MAE {best:.3f} MW, yesterday's load gives {naive:.3f} MW")


if __name__ == "__main__":
    main()
