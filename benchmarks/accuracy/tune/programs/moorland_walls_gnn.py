"""Contrastive node embeddings for a map of moorland walls: sampled GraphSAGE, a momentum
encoder, a queue of negatives, and a ridge probe now and then."""

import numpy as np
import tensorflow as tf

NODES, FEATS, CLASSES = 12000, 32, 7
FAN1, FAN2 = 10, 5
BATCH, DIM, QUEUE = 128, 64, 4096
STEPS, PROBE_EVERY = 2400, 400


def parish_map(seed=0):
    """Nodes are wall junctions; neighbours lie near in space; classes are stone types."""
    rng = np.random.default_rng(seed)
    pos = rng.random((NODES, 2)).astype("float32")
    kind = ((pos[:, 0] * 3).astype(int) + 2 * (pos[:, 1] * 3).astype(int)) % CLASSES
    cell = (pos[:, 0] * 60).astype(int) * 60 + (pos[:, 1] * 60).astype(int)
    order = np.argsort(cell, kind="stable")
    rank = np.empty(NODES, int)
    rank[order] = np.arange(NODES)
    hop = rng.integers(-8, 9, (NODES, 16))
    nbr = order[np.clip(rank[:, None] + hop, 0, NODES - 1)].astype("int32")
    centre = rng.normal(0, 1, (CLASSES, FEATS))
    feat = (centre[kind] + rng.normal(0, 2.0, (NODES, FEATS))).astype("float32")
    return feat, nbr, kind


class Sage(tf.keras.layers.Layer):
    def __init__(self, units, activation=None):
        super().__init__()
        self.own = tf.keras.layers.Dense(units)
        self.near = tf.keras.layers.Dense(units, use_bias=False)
        self.act = tf.keras.activations.get(activation)

    def call(self, node, around):
        return self.act(self.own(node) + self.near(tf.reduce_mean(around, axis=-2)))


class Encoder(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.first = Sage(96, "relu")
        self.second = Sage(96, "relu")
        self.project = tf.keras.layers.Dense(DIM)

    def call(self, inputs, training=False):
        x0, x1, x2 = inputs
        h0 = self.first(x0, x1)
        h1 = self.first(x1, x2)
        return tf.math.l2_normalize(self.project(self.second(h0, h1)), axis=-1)


class Sampler:
    def __init__(self, feat, nbr, seed):
        self.feat, self.nbr = feat, nbr
        self.rng = np.random.default_rng(seed)

    def spread(self, ids, fan):
        cols = self.rng.integers(0, self.nbr.shape[1], ids.shape + (fan,))
        return self.nbr[ids[..., None], cols]

    def view(self, ids, drop=0.2):
        one = self.spread(ids, FAN1)
        two = self.spread(one, FAN2)
        mask = (self.rng.random(FEATS) > drop).astype("float32")
        return tuple(tf.constant(self.feat[i] * mask) for i in (ids, one, two))


def ridge_probe(emb, kind, rng):
    target = np.eye(CLASSES)[kind]
    perm = rng.permutation(len(emb))
    a, b = perm[: len(perm) // 2], perm[len(perm) // 2 :]
    w = np.linalg.solve(emb[a].T @ emb[a] + 0.1 * np.eye(emb.shape[1]), emb[a].T @ target[a])
    return np.mean((emb[b] @ w).argmax(1) == kind[b])


def main():
    tf.keras.utils.set_random_seed(10)
    rng = np.random.default_rng(10)
    feat, nbr, kind = parish_map()
    sampler = Sampler(feat, nbr, 3)
    query, key = Encoder(), Encoder()
    warm = sampler.view(np.arange(BATCH))
    query(warm), key(warm)
    key.set_weights(query.get_weights())
    queue = tf.Variable(
        tf.math.l2_normalize(tf.random.normal([QUEUE, DIM]), axis=-1), trainable=False
    )
    head = tf.Variable(0, dtype=tf.int32, trainable=False)
    opt = tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(1e-3, STEPS))

    @tf.function
    def step(va, vb):
        k = tf.stop_gradient(key(vb))
        with tf.GradientTape() as tape:
            q = query(va, training=True)
            pos = tf.reduce_sum(q * k, axis=1, keepdims=True)
            logits = tf.concat([pos, tf.matmul(q, queue, transpose_b=True)], axis=1) / 0.2
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(
                    labels=tf.zeros([BATCH], tf.int32), logits=logits
                )
            )
        grads = tape.gradient(loss, query.trainable_variables)
        opt.apply_gradients(zip(grads, query.trainable_variables))
        for t, s in zip(key.trainable_variables, query.trainable_variables):
            t.assign(0.99 * t + 0.01 * s)
        queue[head : head + BATCH].assign(k)
        head.assign((head + BATCH) % QUEUE)
        return loss

    @tf.function
    def embed(view):
        return query(view)

    losses = []
    for i in range(1, STEPS + 1):
        ids = rng.integers(0, NODES, BATCH)
        losses.append(step(sampler.view(ids), sampler.view(ids)))
        if i % PROBE_EVERY == 0:
            some = rng.choice(NODES, 1024, replace=False)
            emb = np.concatenate(
                [
                    embed(sampler.view(some[j : j + BATCH], drop=0.0)).numpy()
                    for j in range(0, 1024, BATCH)
                ]
            )
            mean = float(tf.reduce_mean(losses[-PROBE_EVERY:]))
            print(
                f"step {i} loss {mean:.3f} probe {ridge_probe(emb, kind[some], rng):.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
