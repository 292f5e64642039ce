"""Message passing network for aqueous solubility regression on small molecules."""

from typing import NamedTuple

import numpy as np
import tensorflow as tf

ATOM_TYPES = 12
HIDDEN = 128
ROUNDS = 3
BATCH = 32
PAD_NODES = 640
PAD_EDGES = 1400
EPOCHS = 7


class Molecule(NamedTuple):
    atoms: np.ndarray
    bonds: np.ndarray
    target: float


class GraphBatch(NamedTuple):
    atoms: tf.Tensor  # [PAD_NODES]
    src: tf.Tensor  # [PAD_EDGES]
    dst: tf.Tensor  # [PAD_EDGES]
    owner: tf.Tensor  # [PAD_NODES] index of the molecule of each atom
    target: tf.Tensor  # [BATCH]
    n_atoms: int  # atoms that are not padding


def random_molecule(rng):
    n = int(rng.integers(12, 20))
    atoms = rng.integers(1, ATOM_TYPES, size=n)
    parents = [int(rng.integers(0, i)) for i in range(1, n)]
    edges = [(i + 1, p) for i, p in enumerate(parents)]
    if n > 15:
        edges.append((0, n - 1))
    both = edges + [(b, a) for a, b in edges]
    polar = np.sum(atoms > 8)
    target = 0.3 * polar - 0.05 * n + 0.1 * rng.normal()
    return Molecule(atoms, np.array(both, np.int32), float(target))


def collate(mols):
    atoms = np.zeros(PAD_NODES, np.int32)
    owner = np.full(PAD_NODES, BATCH, np.int32)
    src = np.full(PAD_EDGES, PAD_NODES - 1, np.int32)
    dst = np.full(PAD_EDGES, PAD_NODES - 1, np.int32)
    node, edge = 0, 0
    for k, m in enumerate(mols):
        n, e = len(m.atoms), len(m.bonds)
        atoms[node : node + n] = m.atoms
        owner[node : node + n] = k
        src[edge : edge + e] = m.bonds[:, 0] + node
        dst[edge : edge + e] = m.bonds[:, 1] + node
        node += n
        edge += e
    target = np.array([m.target for m in mols], np.float32)
    return GraphBatch(
        atoms=tf.constant(atoms),
        src=tf.constant(src),
        dst=tf.constant(dst),
        owner=tf.constant(owner),
        target=tf.constant(target),
        n_atoms=node,
    )


class MPNN(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(ATOM_TYPES, HIDDEN)
        self.message = [tf.keras.layers.Dense(HIDDEN, activation="relu") for _ in range(ROUNDS)]
        self.update = [tf.keras.layers.Dense(HIDDEN, activation="tanh") for _ in range(ROUNDS)]
        self.readout = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(HIDDEN, activation="relu"),
                tf.keras.layers.Dense(1),
            ]
        )

    def call(self, atoms, src, dst, owner, n_atoms=None):
        h = self.embed(atoms)
        real = tf.sequence_mask(n_atoms, PAD_NODES, dtype=tf.float32)[:, None]
        for message, update in zip(self.message, self.update):
            pair = tf.concat([tf.gather(h, src), tf.gather(h, dst)], axis=1)
            m = message(pair)
            agg = tf.math.unsorted_segment_sum(m, dst, PAD_NODES)
            h = h + update(tf.concat([h, agg], axis=1)) * real
        pooled = tf.math.unsorted_segment_sum(h * real, owner, BATCH + 1)[:BATCH]
        return tf.squeeze(self.readout(pooled / 16.0), -1)


model = MPNN()
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        pred = model(batch.atoms, batch.src, batch.dst, batch.owner, n_atoms=batch.n_atoms)
        loss = tf.reduce_mean(tf.square(pred - batch.target))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    rng = np.random.default_rng(7)
    tf.keras.utils.set_random_seed(7)
    data = [random_molecule(rng) for _ in range(2560)]
    for epoch in range(EPOCHS):
        order = rng.permutation(len(data))
        losses = []
        for start in range(0, len(order), BATCH):
            batch = collate([data[i] for i in order[start : start + BATCH]])
            losses.append(train_step(batch))
        print(f"epoch {epoch + 1:2d}  rmse {np.sqrt(np.mean([float(l) for l in losses])):.4f}")


if __name__ == "__main__":
    main()
