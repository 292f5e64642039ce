"""Energies of crystals: graphs of different size are put into one large padded graph per batch."""

import typing

import numpy as np
import tensorflow as tf

ATOMS, BONDS, GRAPHS, ELEMENTS, WIDTH = 1000, 3000, 48, 20, 48


class Batch(typing.NamedTuple):
    kinds: np.ndarray
    source: np.ndarray
    target: np.ndarray
    distance: np.ndarray
    owner: np.ndarray
    energy: np.ndarray


def crystals(rng, count):
    for _ in range(count):
        n = int(rng.integers(8, 20))
        place = rng.random((n, 3)) * 2.2
        away = np.linalg.norm(place[:, None] - place[None], axis=-1) + 9 * np.eye(n)
        source, target = np.nonzero(away < 0.9)
        kinds = rng.integers(1, ELEMENTS, n)
        energy = np.exp(-away[source, target]).sum() / n + kinds.mean() / ELEMENTS
        yield kinds, source, target, away[source, target], energy


def pack(graphs):
    kinds, source, target = (
        np.zeros(ATOMS, "i4"),
        np.full(BONDS, ATOMS - 1),
        np.full(BONDS, ATOMS - 1),
    )
    distance, owner = np.zeros(BONDS, "f4"), np.full(ATOMS, GRAPHS, "i4")
    energy = np.zeros(GRAPHS, "f4")
    atoms = bonds = 0
    for k, (z, s, t, d, e) in enumerate(graphs):
        s, t, d = (a[: BONDS - bonds] for a in (s, t, d))
        kinds[atoms : atoms + len(z)], owner[atoms : atoms + len(z)] = z, k
        source[bonds : bonds + len(s)], target[bonds : bonds + len(s)] = s + atoms, t + atoms
        distance[bonds : bonds + len(s)], energy[k] = d, e
        atoms, bonds = atoms + len(z), bonds + len(s)
    return Batch(kinds, source.astype("i4"), target.astype("i4"), distance, owner, energy)


class CrystalNet(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(ELEMENTS, WIDTH)
        self.edges = [tf.keras.layers.Dense(WIDTH, "softplus") for _ in range(3)]
        self.nodes = [tf.keras.layers.Dense(WIDTH, "softplus") for _ in range(3)]
        self.energy = tf.keras.layers.Dense(1)

    def call(self, b):
        h = self.embed(b.kinds)
        radial = tf.exp(-4.0 * (b.distance[:, None] - tf.linspace(0.0, 1.0, 16)) ** 2)
        for edge, node in zip(self.edges, self.nodes):
            pair = tf.concat([tf.gather(h, b.source), tf.gather(h, b.target), radial], 1)
            h = h + node(tf.math.unsorted_segment_sum(edge(pair), b.target, ATOMS))
        return self.energy(tf.math.unsorted_segment_mean(h, b.owner, GRAPHS + 1)[:GRAPHS])[:, 0]


net = CrystalNet()
adam = tf.keras.optimizers.Adam(1e-3)


@tf.function
def fit_batch(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((net(batch) - batch.energy) ** 2)
    grads = tape.gradient(loss, net.trainable_variables)
    adam.apply_gradients(zip(grads, net.trainable_variables))
    return loss


rng = np.random.default_rng(42)
stored = [pack(crystals(rng, GRAPHS)) for _ in range(30)]
for epoch in range(60):
    order = rng.permutation(len(stored))
    losses = [fit_batch(Batch(*map(tf.constant, stored[k]))) for k in order]
    print(f"epoch {epoch + 1}: {np.sqrt(np.mean([float(x) for x in losses])):.4f}")
