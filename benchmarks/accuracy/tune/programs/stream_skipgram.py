"""Online skip-gram over an endless text stream with an open vocabulary.

Ids come from hashing; word counts live in a hash table so that frequent words
can be subsampled the way word2vec does it.
"""

import argparse
import collections

import numpy as np
import tensorflow as tf


def text_stream(tokens_per_batch, seed):
    """A stream whose topic drifts, so that there are always new words."""
    rng = np.random.default_rng(seed)
    common = np.array(
        ["the", "of", "and", "to", "in", "a", "is", "that", "for", "it"]
        + ["c%d" % i for i in range(990)]
    )
    zipf = 1.0 / np.arange(1, len(common) + 1)
    zipf /= zipf.sum()
    position = 0
    while True:
        freq = rng.choice(common, tokens_per_batch, p=zipf)
        rare = rng.integers(position, position + 1500, tokens_per_batch)
        position += 130
        is_rare = rng.random(tokens_per_batch) < 0.4
        yield np.where(is_rare, np.char.add("n", rare.astype(str)), freq)


class StreamingSkipGram(tf.Module):
    def __init__(self, buckets, dim, window, negatives, lr, threshold):
        super().__init__()
        self.buckets, self.window, self.negatives = buckets, window, negatives
        self.lr, self.threshold = lr, threshold
        init = tf.random.uniform([buckets, dim], -0.5 / dim, 0.5 / dim)
        self.w_in = tf.Variable(init, name="w_in")
        self.w_out = tf.Variable(tf.zeros([buckets, dim]), name="w_out")
        self.counts = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=0)

    def count(self, words):
        uniq, _, n = tf.unique_with_counts(words, out_idx=tf.int64)
        self.counts.insert(uniq, self.counts.lookup(uniq) + n)

    def subsample(self, words):
        _, seen = self.counts.export()
        total = tf.cast(tf.reduce_sum(seen), tf.float32)
        freq = tf.cast(self.counts.lookup(words), tf.float32) / total
        keep = tf.sqrt(self.threshold / freq) + self.threshold / freq
        mask = tf.ensure_shape(tf.random.uniform(tf.shape(words)) < keep, [None])
        return tf.boolean_mask(words, mask)

    def pairs(self, ids):
        center, context = [], []
        for off in range(1, self.window + 1):
            center += [ids[off:], ids[:-off]]
            context += [ids[:-off], ids[off:]]
        return tf.concat(center, 0), tf.concat(context, 0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def step(self, words):
        self.count(words)
        words = self.subsample(words)
        ids = tf.strings.to_hash_bucket_fast(words, self.buckets)
        center, context = self.pairs(ids)
        neg = tf.random.uniform([self.negatives], 0, self.buckets, tf.int64)
        with tf.GradientTape() as tape:
            c = tf.gather(self.w_in, center)
            pos = tf.reduce_sum(c * tf.gather(self.w_out, context), -1)
            negs = tf.matmul(c, tf.gather(self.w_out, neg), transpose_b=True)
            loss = (
                tf.reduce_mean(tf.nn.softplus(-pos))
                + tf.reduce_mean(tf.reduce_sum(tf.nn.softplus(negs), -1)) * 5.0 / self.negatives
            )
        g_in, g_out = tape.gradient(loss, [self.w_in, self.w_out])
        n = tf.cast(tf.shape(center)[0], tf.float32)
        self.w_in.scatter_sub(tf.IndexedSlices(self.lr * n * g_in.values, g_in.indices))
        self.w_out.scatter_sub(tf.IndexedSlices(self.lr * n * g_out.values, g_out.indices))
        return loss, tf.shape(ids)[0]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=1600)
    p.add_argument("--tokens", type=int, default=1024)
    p.add_argument("--buckets", type=int, default=1 << 16)
    p.add_argument("--dim", type=int, default=128)
    p.add_argument("--window", type=int, default=3)
    p.add_argument("--negatives", type=int, default=96)
    p.add_argument("--lr", type=float, default=0.002)
    p.add_argument("--subsample", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=0)
    a = p.parse_args()

    tf.random.set_seed(a.seed)
    model = StreamingSkipGram(a.buckets, a.dim, a.window, a.negatives, a.lr, a.subsample)
    recent = collections.deque(maxlen=100)
    stream = text_stream(a.tokens, a.seed)
    for step in range(1, a.steps + 1):
        loss, kept = model.step(tf.constant(next(stream)))
        recent.append(float(loss))
        if step % 100 == 0:
            print(
                f"step {step:5d}  loss {sum(recent) / len(recent):.4f}  "
                f"kept {int(kept)}/{a.tokens}  vocabulary {int(model.counts.size())}",
                flush=True,
            )


if __name__ == "__main__":
    main()
