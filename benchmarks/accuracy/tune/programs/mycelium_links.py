"""Hyphal junction types and missing hyphae in one mycelial network (two tasks, one encoder)."""

from collections import defaultdict

import numpy as np
import tensorflow as tf

JUNCTIONS, DEGREE, FEATURES, KINDS = 5000, 8, 32, 6
HIDDEN = 96
ROUNDS = 260
LINK_EVERY = 4
PAIRS = 60000


def grow(seed):
    rng = np.random.default_rng(seed)
    xy = rng.random((JUNCTIONS, 2))
    order = np.lexsort((xy[:, 1], np.floor(xy[:, 0] * 40)))
    xy = xy[order]
    src = np.repeat(np.arange(JUNCTIONS), DEGREE)
    dst = np.clip(src + rng.integers(-60, 61, src.size), 0, JUNCTIONS - 1)
    edges = np.unique(np.concatenate([np.stack([src, dst], 1), np.stack([dst, src], 1)]), axis=0)
    kind = ((xy[:, 0] * 3).astype(int) + 3 * (xy[:, 1] > 0.5)) % KINDS
    feats = np.eye(KINDS)[kind] @ rng.normal(size=(KINDS, FEATURES))
    feats = feats + rng.normal(0, 3.0, (JUNCTIONS, FEATURES))
    return edges, feats.astype("float32"), kind.astype("int32")


def normalised(edges):
    loops = np.stack([np.arange(JUNCTIONS)] * 2, 1)
    full = np.unique(np.concatenate([edges, loops]), axis=0)
    deg = np.bincount(full[:, 0], minlength=JUNCTIONS)
    w = 1.0 / np.sqrt(deg[full[:, 0]] * deg[full[:, 1]])
    return tf.sparse.SparseTensor(full.astype("int64"), w.astype("float32"), [JUNCTIONS] * 2)


class Encoder(tf.Module):
    def __init__(self):
        super().__init__()
        init = tf.keras.initializers.GlorotUniform(seed=3)
        self.w = [tf.Variable(init((FEATURES if i == 0 else HIDDEN, HIDDEN))) for i in range(3)]
        self.kind = tf.Variable(init((HIDDEN, KINDS)))
        self.link = tf.Variable(init((HIDDEN, HIDDEN)))

    def __call__(self, adj, x, drop):
        for i, w in enumerate(self.w):
            x = tf.nn.dropout(x, drop)
            h = tf.sparse.sparse_dense_matmul(adj, x @ w)
            x = tf.nn.relu(h) if i == 0 else x + tf.nn.relu(h)
        return x


edges, feats, kind = grow(14)
ADJ = normalised(edges)
X, KIND = tf.constant(feats), tf.constant(kind)
EDGES = tf.constant(edges.astype("int32"))
shuffled = np.random.default_rng(0).permutation(JUNCTIONS)
TRAIN, TEST = tf.constant(shuffled[:1500]), tf.constant(shuffled[1500:])
enc = Encoder()
opt = tf.keras.optimizers.Adam(3e-3)
opt.build(enc.trainable_variables)


def descend(tape, loss):
    pairs = [
        (g, v)
        for g, v in zip(tape.gradient(loss, enc.trainable_variables), enc.trainable_variables)
        if g is not None
    ]
    opt.apply_gradients(pairs)


@tf.function
def kind_round():
    with tf.GradientTape() as tape:
        z = tf.gather(enc(ADJ, X, 0.2), TRAIN)
        loss = tf.reduce_mean(
            tf.nn.sparse_softmax_cross_entropy_with_logits(tf.gather(KIND, TRAIN), z @ enc.kind)
        )
    descend(tape, loss)
    return loss


@tf.function
def link_round():
    pick = tf.random.uniform([PAIRS], 0, tf.shape(EDGES)[0], tf.int32)
    pos = tf.gather(EDGES, pick)
    neg = tf.stack([pos[:, 0], tf.random.uniform([PAIRS], 0, JUNCTIONS, tf.int32)], 1)
    with tf.GradientTape() as tape:
        z = enc(ADJ, X, 0.2)
        left = z @ enc.link
        both = tf.concat([pos, neg], 0)
        score = tf.reduce_sum(tf.gather(left, both[:, 0]) * tf.gather(z, both[:, 1]), -1)
        truth = tf.concat([tf.ones(PAIRS), tf.zeros(PAIRS)], 0)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(truth, score / HIDDEN**0.5))
    descend(tape, loss)
    return loss


@tf.function
def accuracy():
    z = tf.gather(enc(ADJ, X, 0.0), TEST)
    guess = tf.argmax(z @ enc.kind, -1, output_type=tf.int32)
    return tf.reduce_mean(tf.cast(guess == tf.gather(KIND, TEST), tf.float32))


log = defaultdict(list)
for r in range(1, ROUNDS + 1):
    if r % LINK_EVERY == 0:
        log["link"].append(link_round())
    else:
        log["kind"].append(kind_round())
    if r % 40 == 0:
        recent = {name: float(tf.reduce_mean(values[-10:])) for name, values in log.items()}
        print(
            f"round {r}: kind {recent['kind']:.3f} link {recent['link']:.3f} "
            f"unlabelled junctions right {float(accuracy()):.3f}"
        )
