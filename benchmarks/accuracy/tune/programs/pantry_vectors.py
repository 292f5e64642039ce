"""Ingredient vectors from a synthetic recipe collection.

Skip-gram with noise-contrastive estimation in a classic session program.
The vectors are compared with the hidden cuisines every few hundred steps.
"""

import time

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

VOCAB = 9000
CUISINES = 30
DIM = 128
BATCH = 1536
NEGATIVES = 96
STEPS = 1150
HOLD = 350


def make_recipes(rng, count=24000, length=9):
    """Each recipe draws most of its ingredients from one cuisine."""
    home = rng.integers(0, CUISINES, size=VOCAB)
    by_cuisine = [np.flatnonzero(home == c) for c in range(CUISINES)]
    recipes = np.empty((count, length), dtype=np.int32)
    for i in range(count):
        c = rng.integers(CUISINES)
        recipes[i] = rng.choice(by_cuisine[c], size=length)
    stray = rng.random(recipes.shape) < 0.15
    recipes[stray] = rng.integers(0, VOCAB, size=int(stray.sum()))
    return recipes, home


def pair_batches(recipes, rng):
    rows, length = recipes.shape
    while True:
        r = rng.integers(0, rows, size=BATCH)
        a = rng.integers(0, length, size=BATCH)
        b = (a + rng.integers(1, length, size=BATCH)) % length
        yield recipes[r, a], recipes[r, b][:, None].astype(np.int64)


class Rate:
    """Learning rate that holds for a while and then decays."""

    def __init__(self, start, floor, hold, total):
        self.start, self.floor = start, floor
        self.hold, self.total = hold, total
        self.value = tf.get_variable("rate", initializer=np.float32(start), trainable=False)

    def at(self, step):
        done = (step - self.hold) / max(1, self.total - self.hold)
        return self.floor + (self.start - self.floor) * (1.0 - done) ** 2

    def advance(self, sess, step):
        if step < self.hold:
            return
        sess.run(tf.assign(self.value, self.at(step)))


class SkipGram:
    def __init__(self, rate):
        self.center = tf.placeholder(tf.int32, [BATCH], name="center")
        self.context = tf.placeholder(tf.int64, [BATCH, 1], name="context")
        self.table = tf.get_variable(
            "table", [VOCAB, DIM], initializer=tf.random_uniform_initializer(-0.5 / DIM, 0.5 / DIM)
        )
        gate = tf.get_variable("gate", [DIM, DIM], initializer=tf.orthogonal_initializer())
        out_w = tf.get_variable(
            "out_w", [VOCAB, DIM], initializer=tf.truncated_normal_initializer(stddev=DIM**-0.5)
        )
        out_b = tf.get_variable("out_b", [VOCAB], initializer=tf.zeros_initializer())
        hidden = tf.nn.embedding_lookup(self.table, self.center)
        hidden = hidden + tf.tanh(tf.matmul(hidden, gate))
        self.loss = tf.reduce_mean(
            tf.nn.nce_loss(
                weights=out_w,
                biases=out_b,
                labels=self.context,
                inputs=hidden,
                num_sampled=NEGATIVES,
                num_classes=VOCAB,
            )
        )
        optimizer = tf.train.AdagradOptimizer(rate.value)
        grads = optimizer.compute_gradients(self.loss)
        self.train = optimizer.apply_gradients(grads)
        self.unit = tf.nn.l2_normalize(self.table, axis=1)


def purity(vectors, home, rng, probes=200, k=10):
    """Share of near neighbours that belong to the probe's own cuisine."""
    picks = rng.choice(VOCAB, size=probes, replace=False)
    scores = vectors[picks] @ vectors.T
    scores[np.arange(probes), picks] = -1.0
    near = np.argpartition(-scores, k, axis=1)[:, :k]
    return float((home[near] == home[picks][:, None]).mean())


def main():
    rng = np.random.default_rng(11)
    tf.set_random_seed(11)
    recipes, home = make_recipes(rng)
    rate = Rate(0.8, 0.05, HOLD, STEPS)
    model = SkipGram(rate)
    batches = pair_batches(recipes, rng)
    began = time.time()
    running = None
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(STEPS):
            rate.advance(sess, step)
            center, context = next(batches)
            loss, _ = sess.run(
                [model.loss, model.train], {model.center: center, model.context: context}
            )
            running = loss if running is None else 0.98 * running + 0.02 * loss
            if (step + 1) % 250 == 0:
                score = purity(sess.run(model.unit), home, rng)
                print(
                    f"step {step + 1:5d}  loss {running:7.3f}  "
                    f"purity {score:.3f}  {time.time() - began:6.1f}s",
                    flush=True,
                )


if __name__ == "__main__":
    main()
