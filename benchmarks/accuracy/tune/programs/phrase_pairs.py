"""Contrastive sentence encoder over phrase pairs of varying length.

Functional style: parameters live in a plain dict of variables.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf

VOCAB, DIM, HIDDEN = 6000, 96, 192
BUCKETS = (12, 20, 32)
BATCH = 96
STEPS = 460
ACCUMULATE = 2


def phrase_corpus(n=9000, seed=31):
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, 60, n)
    lengths = rng.integers(5, BUCKETS[-1] + 1, n)

    def phrase(topic, length):
        words = topic * 100 + rng.integers(0, 100, length)
        return np.where(rng.random(length) < 0.3, rng.integers(1, VOCAB, length), words)

    left = [phrase(t, l).astype(np.int32) for t, l in zip(topics, lengths)]
    right = [phrase(t, l).astype(np.int32) for t, l in zip(topics, lengths)]
    return left, right, lengths


def pack(left, right, lengths):
    """One padded block of ids per bucket, made once."""
    blocks = []
    low = 0
    for high in BUCKETS:
        rows = np.flatnonzero((lengths > low) & (lengths <= high))
        a = np.zeros((len(rows), high), np.int32)
        b = np.zeros((len(rows), high), np.int32)
        for i, r in enumerate(rows):
            a[i, : lengths[r]] = left[r]
            b[i, : lengths[r]] = right[r]
        blocks.append((a, b))
        low = high
    return blocks


def batches(blocks, rng):
    weights = np.array([len(a) for a, _ in blocks], float)
    weights /= weights.sum()
    while True:
        a, b = blocks[rng.choice(len(blocks), p=weights)]
        rows = rng.integers(0, len(a), BATCH)
        yield tf.constant(a[rows]), tf.constant(b[rows])


def init_params(seed=0):
    g = tf.random.Generator.from_seed(seed)

    def dense(i, o):
        return tf.Variable(g.normal((i, o), stddev=i**-0.5))

    return {
        "emb": tf.Variable(g.normal((VOCAB, DIM), stddev=0.05)),
        "conv": tf.Variable(g.normal((5, DIM, HIDDEN), stddev=(5 * DIM) ** -0.5)),
        "gate": dense(HIDDEN, HIDDEN),
        "proj": dense(HIDDEN, 128),
    }


def encode(p, ids):
    mask = tf.cast(ids > 0, tf.float32)[..., None]
    x = tf.nn.embedding_lookup(p["emb"], ids) * mask
    x = tf.nn.gelu(tf.nn.conv1d(x, p["conv"], 1, "SAME"))
    x = x * tf.sigmoid(x @ p["gate"])
    pooled = tf.reduce_sum(x * mask, 1) / (tf.reduce_sum(mask, 1) + 1e-6)
    return tf.math.l2_normalize(pooled @ p["proj"], axis=1)


def main():
    rng = np.random.default_rng(9)
    params = init_params()
    names = sorted(params)
    variables = [params[k] for k in names]
    slow = [tf.Variable(v, trainable=False) for v in variables]
    pending = [tf.Variable(tf.zeros_like(v), trainable=False) for v in variables]
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(variables)
    feed = batches(pack(*phrase_corpus()), rng)
    ids = tf.TensorSpec((None, None), tf.int32)

    @tf.function(input_signature=[ids, ids, tf.TensorSpec((), tf.float32)])
    def collect(a, b, temperature):
        with tf.GradientTape() as tape:
            sim = encode(params, a) @ tf.transpose(encode(params, b)) / temperature
            target = tf.range(tf.shape(a)[0])
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(target, sim))
        for slot, g in zip(pending, tape.gradient(loss, variables)):
            slot.assign_add(tf.convert_to_tensor(g) / ACCUMULATE)
        return loss, tf.reduce_mean(tf.cast(tf.argmax(sim, 1, tf.int32) == target, tf.float32))

    @tf.function(input_signature=[])
    def commit():
        optimizer.apply_gradients(zip([tf.convert_to_tensor(s) for s in pending], variables))
        for slot, s, v in zip(pending, slow, variables):
            slot.assign(tf.zeros_like(slot))
            s.assign(0.99 * s + 0.01 * v)

    losses, hits = [], []
    for n in range(1, STEPS + 1):
        temperature = max(0.05, 0.2 - 0.0005 * n)
        for _ in range(ACCUMULATE):
            a, b = next(feed)
            loss, acc = collect(a, b, tf.constant(temperature, tf.float32))
            losses.append(float(loss))
            hits.append(float(acc))
        commit()
        if n % 50 == 0:
            print(
                f"step {n:4d}  loss {np.mean(losses[-100:]):.4f}  top1 {np.mean(hits[-100:]):.3f}"
            )

    for s, v in zip(slow, variables):
        v.assign(s)
    a, b = next(feed)
    loss, acc = collect(a, b, tf.constant(0.05))
    print(f"averaged weights  loss {float(loss):.4f}  top1 {float(acc):.3f}")


if __name__ == "__main__":
    main()
