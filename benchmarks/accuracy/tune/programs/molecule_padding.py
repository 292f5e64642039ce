"""Energy of small molecules with a distance-aware set transformer.

Molecules have different numbers of atoms; a PyDataset puts batches together.
"""

import keras
import numpy as np
from keras import layers, ops

KINDS = 7
WIDTH = 48
HEADS = 4
BATCH = 24
EPOCHS = 9


def make_molecules(count, seed):
    rng = np.random.default_rng(seed)
    charge = np.array([1.0, 6.0, 7.0, 8.0, 9.0, 15.0, 16.0]) / 8.0
    out = []
    for _ in range(count):
        atoms = int(np.clip(rng.gamma(6.0, 3.0), 6, 29))
        kinds = rng.choice(KINDS, size=atoms, p=[0.45, 0.3, 0.08, 0.1, 0.03, 0.02, 0.02])
        steps = rng.normal(size=(atoms, 3))
        place = np.cumsum(steps / np.linalg.norm(steps, axis=1)[:, None], axis=0) * 1.4
        gap = np.linalg.norm(place[:, None] - place[None], axis=-1)
        q = charge[kinds]
        pair = q[:, None] * q[None] * np.exp(-gap / 2.0)
        energy = (pair.sum() - np.trace(pair)) / atoms
        out.append((kinds.astype(np.int32) + 1, place.astype(np.float32), np.float32(energy)))
    return out


class MoleculeBatches(keras.utils.PyDataset):
    def __init__(self, molecules, batch, shuffle=True, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.molecules = molecules
        self.batch = batch
        self.shuffle = shuffle
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(molecules))
        self.on_epoch_end()

    def __len__(self):
        return len(self.molecules) // self.batch

    def __getitem__(self, index):
        rows = self.order[index * self.batch : (index + 1) * self.batch]
        group = [self.molecules[i] for i in rows]
        longest = max(len(kinds) for kinds, _, _ in group)
        kinds = np.zeros((self.batch, longest), np.int32)
        place = np.zeros((self.batch, longest, 3), np.float32)
        for i, (k, p, _) in enumerate(group):
            kinds[i, : len(k)] = k
            place[i, : len(k)] = p - p.mean(axis=0)
        energy = np.array([e for _, _, e in group], np.float32)
        return {"kinds": kinds, "place": place}, energy

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.order)


class PairBlock(layers.Layer):
    """Self-attention whose scores are bent by the distances of atoms."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.norm1 = layers.LayerNormalization()
        self.norm2 = layers.LayerNormalization()
        self.qkv = layers.Dense(3 * WIDTH, use_bias=False)
        self.out = layers.Dense(WIDTH)
        self.up = layers.Dense(3 * WIDTH, activation="gelu")
        self.down = layers.Dense(WIDTH)

    def build(self, shape, *_):
        self.reach = self.add_weight(shape=(HEADS, 1, 1), initializer="ones", name="reach")

    def call(self, x, gap, mask):
        n = ops.shape(x)[1]
        qkv = ops.reshape(self.qkv(self.norm1(x)), (-1, n, 3, HEADS, WIDTH // HEADS))
        q, k, v = (ops.transpose(qkv[:, :, i], (0, 2, 1, 3)) for i in range(3))
        score = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2)))
        score = score / (WIDTH // HEADS) ** 0.5
        score = score - ops.softplus(self.reach) * gap[:, None]
        score = score - 1e9 * (1.0 - mask[:, None, None, :])
        y = ops.matmul(ops.softmax(score), v)
        y = ops.reshape(ops.transpose(y, (0, 2, 1, 3)), (-1, n, WIDTH))
        x = x + self.out(y)
        return x + self.down(self.up(self.norm2(x)))


class EnergyModel(keras.Model):
    def __init__(self, blocks=2):
        super().__init__()
        self.embed = layers.Embedding(KINDS + 1, WIDTH)
        self.blocks = [PairBlock() for _ in range(blocks)]
        self.norm = layers.LayerNormalization()
        self.head = keras.Sequential([layers.Dense(64, activation="gelu"), layers.Dense(1)])

    def call(self, inputs):
        kinds, place = inputs["kinds"], inputs["place"]
        mask = ops.cast(kinds > 0, "float32")
        delta = place[:, :, None] - place[:, None]
        gap = ops.sqrt(ops.sum(ops.square(delta), axis=-1) + 1e-6)
        x = self.embed(kinds)
        for block in self.blocks:
            x = block(x, gap, mask)
        each = self.head(self.norm(x))[..., 0] * mask
        return ops.sum(each, axis=1) / ops.sum(mask, axis=1)


def main():
    keras.utils.set_random_seed(17)
    train = MoleculeBatches(make_molecules(3600, seed=1), BATCH, seed=3)
    test = MoleculeBatches(make_molecules(240, seed=2), BATCH, shuffle=False)
    model = EnergyModel()
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"], jit_compile=True
    )
    model.fit(train, epochs=EPOCHS, verbose=2)
    loss, mae = model.evaluate(test, verbose=0)
    spread = np.std([m[2] for m in test.molecules])
    print(f"test mae {mae:.4f}  (spread of energies {spread:.4f})")


if __name__ == "__main__":
    main()
