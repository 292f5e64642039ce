"""Message passing on small molecules: one new molecule after the other."""

import numpy as np
import tensorflow as tf

ELEMENTS, WIDTH = 9, 32
rng = np.random.default_rng(14)


def molecule():
    atoms = int(rng.integers(8, 14))
    kinds = rng.integers(0, ELEMENTS, atoms)
    chain = [(k, k + 1) for k in range(atoms - 1)]
    rings = [tuple(rng.integers(0, atoms, 2)) for _ in range(int(rng.integers(0, atoms // 3)))]
    bonds = np.array(chain + rings)
    bonds = np.concatenate([bonds, bonds[:, ::-1]])
    solubility = float(np.mean(kinds < 3) - 0.1 * len(rings))
    return kinds.astype(np.int32), bonds.astype(np.int32), np.float32(solubility)


class MessagePassing(tf.keras.layers.Layer):
    def __init__(self, width):
        super().__init__()
        self.message = tf.keras.layers.Dense(width, activation="relu")
        self.update = tf.keras.layers.GRUCell(width)

    def call(self, nodes, bonds):
        sent = self.message(
            tf.concat([tf.gather(nodes, bonds[:, 0]), tf.gather(nodes, bonds[:, 1])], 1)
        )
        got = tf.math.unsorted_segment_sum(sent, bonds[:, 1], tf.shape(nodes)[0])
        return self.update(got, [nodes])[0]


class Solubility(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.embed = tf.keras.layers.Embedding(ELEMENTS, WIDTH)
        self.passing = MessagePassing(WIDTH)
        self.readout = tf.keras.layers.Dense(1)

    def call(self, kinds, bonds):
        nodes = self.embed(kinds)
        for _ in range(2):
            nodes = self.passing(nodes, bonds)
        return self.readout(tf.reduce_mean(nodes, axis=0, keepdims=True))[0, 0]


model = Solubility()
optimizer = tf.keras.optimizers.Adam(3e-3)


@tf.function
def fit_molecule(kinds, bonds, target):
    with tf.GradientTape() as tape:
        loss = tf.square(model(kinds, bonds) - target)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


losses = []
for number in range(420):
    losses.append(float(fit_molecule(*map(tf.constant, molecule()))))
    if number % 60 == 59:
        print(f"{number + 1} molecules: mean loss of the last {np.mean(losses[-60:]):.4f}")
