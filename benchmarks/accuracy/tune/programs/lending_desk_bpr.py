# Bayesian personalised ranking for a small public library network.
# Readers and titles live on the unit sphere; a loan is scored by cosine.
import argparse
import time

import numpy as np
import tensorflow as tf


def simulate_loans(n_readers, n_titles, n_loans, n_genres=24, seed=11):
    rng = np.random.default_rng(seed)
    genre_of_title = rng.integers(0, n_genres, n_titles)
    titles_by_genre = [np.flatnonzero(genre_of_title == g) for g in range(n_genres)]
    favourite = rng.integers(0, n_genres, n_readers)
    readers = rng.integers(0, n_readers, n_loans)
    titles = np.empty(n_loans, np.int32)
    stray = rng.random(n_loans) < 0.15
    for g in range(n_genres):
        mine = np.flatnonzero(favourite[readers] == g)
        titles[mine] = rng.choice(titles_by_genre[g], len(mine))
    titles[stray] = rng.integers(0, n_titles, stray.sum())
    return readers.astype(np.int32), titles, favourite, genre_of_title


class SphereTable(tf.Module):
    """A table of unit vectors addressed by id."""

    def __init__(self, rows, dim, name):
        super().__init__(name=name)
        self.raw = tf.Variable(tf.random.normal([rows, dim], stddev=0.3), name=name + "_raw")

    def lookup(self, ids):
        unit = tf.math.l2_normalize(self.raw, axis=1)
        return tf.gather(unit, ids)


class LoanRanker(tf.Module):
    def __init__(self, n_readers, n_titles, dim=48):
        super().__init__()
        self.readers = SphereTable(n_readers, dim, "readers")
        self.titles = SphereTable(n_titles, dim, "titles")
        self.scale = tf.Variable(6.0)

    def score(self, r, t):
        return self.scale * tf.reduce_sum(self.readers.lookup(r) * self.titles.lookup(t), axis=-1)


def make_batches(readers, titles, n_titles, batch):
    def with_negative(r, t):
        neg = tf.random.uniform(tf.shape(t), 0, n_titles, tf.int32)
        return r, t, neg

    return (
        tf.data.Dataset.from_tensor_slices((readers, titles))
        .shuffle(100_000)
        .repeat()
        .batch(batch, drop_remainder=True)
        .map(with_negative, num_parallel_calls=tf.data.AUTOTUNE)
        .prefetch(tf.data.AUTOTUNE)
    )


def hit_rate(model, favourite, genre_of_title, n=2000, seed=5):
    rng = np.random.default_rng(seed)
    r = rng.integers(0, len(favourite), n)
    good = np.empty(n, np.int32)
    for i, reader in enumerate(r):
        while True:
            t = rng.integers(0, len(genre_of_title))
            if genre_of_title[t] == favourite[reader]:
                good[i] = t
                break
    rest = rng.integers(0, len(genre_of_title), n)
    s_good = model.score(tf.constant(r, tf.int32), tf.constant(good))
    s_rest = model.score(tf.constant(r, tf.int32), tf.constant(rest, tf.int32))
    return float(tf.reduce_mean(tf.cast(s_good > s_rest, tf.float32)))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=1200)
    ap.add_argument("--batch", type=int, default=2048)
    ap.add_argument("--readers", type=int, default=40_000)
    ap.add_argument("--titles", type=int, default=25_000)
    ap.add_argument("--lr", type=float, default=400.0)
    args = ap.parse_args()
    tf.random.set_seed(1)

    readers, titles, favourite, genres = simulate_loans(args.readers, args.titles, 600_000)
    model = LoanRanker(args.readers, args.titles)
    data = make_batches(readers, titles, args.titles, args.batch)
    tables = [model.readers.raw, model.titles.raw]

    @tf.function
    def train_step(r, pos, neg, lr):
        with tf.GradientTape() as tape:
            margin = model.score(r, pos) - model.score(r, neg)
            loss = tf.reduce_mean(tf.nn.softplus(-margin))
        grads = tape.gradient(loss, tables)
        for var, g in zip(tables, grads):
            if isinstance(g, tf.IndexedSlices):
                var.scatter_sub(tf.IndexedSlices(lr * g.values, g.indices))
            else:
                var.assign_sub(lr * g)
        return loss

    start = time.time()
    running = None
    lr = tf.constant(args.lr)
    for step, (r, pos, neg) in enumerate(data.take(args.steps), 1):
        loss = train_step(r, pos, neg, lr)
        if step % 200 == 0:
            running = float(loss)
            print(
                f"step {step:5d}  loss {running:.4f}  "
                f"pairwise {hit_rate(model, favourite, genres):.3f}  {time.time() - start:.1f}s"
            )
    print("done, last loss", running)


if __name__ == "__main__":
    main()
