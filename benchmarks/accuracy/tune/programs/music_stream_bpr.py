"""Nightly-updated music recommender: new plays arrive each day, then a few BPR passes."""

import time

import numpy as np
import tensorflow as tf

CONFIG = {
    "listeners": 240,
    "tracks": 6000,
    "dim": 32,
    "days": 16,
    "plays_per_day": 75,
    "batch": 1024,
    "batches_per_day": 90,
    "lr": 0.08,
    "decay": 1e-4,
    "seed": 5,
}


def play_log(cfg, rng):
    """Yields (listener, track) arrays day by day, each pair once over all days."""
    taste = rng.normal(size=(cfg["listeners"], 8))
    style = rng.normal(size=(cfg["tracks"], 8))
    score = taste @ style.T + rng.gumbel(size=(cfg["listeners"], cfg["tracks"])) * 2.0
    order = np.argsort(-score, axis=1)[:, : cfg["days"] * cfg["plays_per_day"]]
    order = rng.permuted(order, axis=1)
    for day in np.split(order, cfg["days"], axis=1):
        who = np.repeat(np.arange(cfg["listeners"]), day.shape[1])
        yield who, day.reshape(-1)


def make_model(cfg):
    init = tf.random_normal_initializer(stddev=0.1, seed=cfg["seed"])
    users = tf.Variable(init([cfg["listeners"], cfg["dim"]]), name="users")
    items = tf.Variable(init([cfg["tracks"], cfg["dim"]]), name="items")
    bias = tf.Variable(tf.zeros([cfg["tracks"]]), name="bias")
    acc_u, acc_i, acc_b = (tf.Variable(tf.fill(v.shape, 0.1)) for v in (users, items, bias))

    def adagrad(var, acc, idx, grad):
        acc.scatter_add(tf.IndexedSlices(grad * grad, idx))
        step = cfg["lr"] * grad * tf.math.rsqrt(tf.gather(acc, idx))
        var.scatter_sub(tf.IndexedSlices(step, idx))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.int32)] * 3)
    def bpr_step(u, i, j):
        pu, qi, qj = tf.gather(users, u), tf.gather(items, i), tf.gather(items, j)
        bi, bj = tf.gather(bias, i), tf.gather(bias, j)
        margin = tf.reduce_sum(pu * (qi - qj), 1) + bi - bj
        slope = -tf.sigmoid(-margin)
        adagrad(users, acc_u, u, slope[:, None] * (qi - qj) + cfg["decay"] * pu)
        adagrad(
            items,
            acc_i,
            tf.concat([i, j], 0),
            tf.concat([slope[:, None] * pu, -slope[:, None] * pu], 0),
        )
        adagrad(bias, acc_b, tf.concat([i, j], 0), tf.concat([slope, -slope], 0))
        return tf.reduce_mean(tf.nn.softplus(-margin)), tf.reduce_mean(
            tf.cast(margin > 0, tf.float32)
        )

    return bpr_step


class History:
    """Everything each listener has played so far."""

    def __init__(self, listeners):
        self.played = [[] for _ in range(listeners)]
        self.who = np.zeros(0, "int32")
        self.what = np.zeros(0, "int32")

    def add_day(self, who, what):
        for u, i in zip(who.tolist(), what.tolist()):
            self.played[u].append(i)
        self.who = np.concatenate([self.who, who.astype("int32")])
        self.what = np.concatenate([self.what, what.astype("int32")])

    def triplets(self, rng, size, tracks):
        rows = rng.integers(0, len(self.who), size)
        u, i = self.who[rows], self.what[rows]
        other = rng.integers(0, tracks, size).tolist()
        for k, listener in enumerate(u.tolist()):
            while other[k] in self.played[listener]:
                other[k] = int(rng.integers(0, tracks))
        return u, i, np.array(other, "int32")


def main(cfg):
    rng = np.random.default_rng(cfg["seed"])
    bpr_step = make_model(cfg)
    history = History(cfg["listeners"])
    for day, (who, what) in enumerate(play_log(cfg, rng), start=1):
        began = time.perf_counter()
        history.add_day(who, what)
        losses, aucs = [], []
        for _ in range(cfg["batches_per_day"]):
            u, i, j = history.triplets(rng, cfg["batch"], cfg["tracks"])
            loss, auc = bpr_step(tf.constant(u), tf.constant(i), tf.constant(j))
            losses.append(loss)
            aucs.append(auc)
        print(
            f"day {day:2d}: {len(history.who):7d} plays  bpr {np.mean(losses):.4f}  "
            f"auc {np.mean(aucs):.4f}  {time.perf_counter() - began:.2f}s",
            flush=True,
        )


if __name__ == "__main__":
    main(CONFIG)
