"""Who feeds whom in a hive: graph convolutions on a contact network, with three seeds."""

import statistics

import numpy as np
import tensorflow as tf

BEES, CASTES, CONTACTS, STEPS, SEEDS = 3000, 4, 30000, 110, (0, 1, 2)


def hive():
    """Contacts, what was measured of each bee, and its caste."""
    rng = np.random.default_rng(99)
    caste = rng.integers(0, CASTES, BEES)
    one = rng.integers(0, BEES, 4 * CONTACTS)
    two = rng.integers(0, BEES, 4 * CONTACTS)
    keep = rng.random(len(one)) < np.where(caste[one] == caste[two], 0.6, 0.12)
    pairs = np.unique(np.stack([one[keep], two[keep]], 1), axis=0)
    pairs = np.unique(np.concatenate([pairs, pairs[:, ::-1]]), axis=0)
    degree = np.bincount(pairs[:, 0], minlength=BEES) + 1.0
    value = 1 / np.sqrt(degree[pairs[:, 0]] * degree[pairs[:, 1]])
    contacts = tf.sparse.SparseTensor(pairs, value.astype("float32"), [BEES, BEES])
    measured = np.eye(CASTES)[caste] @ rng.normal(size=(CASTES, 32)) * 0.3
    measured = measured + rng.normal(size=measured.shape)
    return contacts, tf.constant(measured, tf.float32), tf.constant(caste, tf.int32)


class GraphNet(tf.Module):
    def __init__(self, seed, sizes=(32, 128, 128, CASTES)):
        super().__init__()
        init = tf.initializers.GlorotNormal(seed)
        self.own = [tf.Variable(init([a, b])) for a, b in zip(sizes, sizes[1:])]
        self.near = [tf.Variable(init([a, b])) for a, b in zip(sizes, sizes[1:])]

    def __call__(self, contacts, x, drop=0.0):
        for k, (own, near) in enumerate(zip(self.own, self.near)):
            if drop:
                x = tf.nn.dropout(x, drop)
            x = x @ own + tf.sparse.sparse_dense_matmul(contacts, x @ near)
            if k < len(self.own) - 1:
                x = tf.nn.elu(x)
        return x


def train(contacts, measured, caste, seed):
    tf.random.set_seed(seed)
    net = GraphNet(seed)
    optimizer = tf.keras.optimizers.Adam(5e-3)
    is_known = np.random.default_rng(seed).random(BEES) < 0.3
    known, unknown = np.flatnonzero(is_known), np.flatnonzero(~is_known)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            logits = tf.gather(net(contacts, measured, drop=0.3), known)
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(tf.gather(caste, known), logits)
            )
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
        return loss

    for k in range(STEPS):
        loss = step()
        if k % 40 == 0:
            print(f"  seed {seed} step {k}: {float(loss):.3f}")
    guess = tf.argmax(net(contacts, measured), 1).numpy()
    return float((guess == caste.numpy())[unknown].mean())


graph = hive()
scores = []
for seed in SEEDS:
    scores.append(train(*graph, seed))
    print(f"seed {seed}: {scores[-1]:.3f} of the unknown bees")
print(f"{statistics.mean(scores):.3f} +- {statistics.stdev(scores):.3f}")
