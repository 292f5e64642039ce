"""Solubility from SMILES strings, padded to the longest of the batch; jit_compile for speed."""

import keras
import numpy as np
from keras import layers

ALPHABET = "#CNO()=cn1"
np.random.seed(13)


def random_smiles():
    atoms = np.random.choice(list("CNOcn"), np.random.randint(12, 70))
    text = "".join(atoms)
    cut = np.random.randint(1, len(text) - 1)
    return text[:cut] + "(=O)" + text[cut:]


def solubility(text):
    return 2.0 * text.count("O") / len(text) - text.count("c") / len(text)


class Molecules(keras.utils.PyDataset):
    def __init__(self, texts, batch_size=16, **kwargs):
        super().__init__(**kwargs)
        self.codes = [[ALPHABET.index(c) for c in text] for text in texts]
        self.targets = np.array([solubility(t) for t in texts], dtype="float32")
        self.batch_size = batch_size
        self.order = np.arange(len(texts))

    def __len__(self):
        return len(self.order) // self.batch_size

    def __getitem__(self, index):
        rows = self.order[index * self.batch_size : (index + 1) * self.batch_size]
        batch = [self.codes[r] for r in rows]
        width = max(map(len, batch))
        x = np.zeros((len(batch), width), dtype="int32")
        for k, code in enumerate(batch):
            x[k, : len(code)] = code
        return x, self.targets[rows]

    def on_epoch_end(self):
        np.random.shuffle(self.order)


def block(x, filters):
    y = layers.Conv1D(filters, 5, padding="same", activation="relu")(x)
    y = layers.Conv1D(filters, 5, padding="same")(y)
    return layers.LayerNormalization()(layers.add([x, y]))


tokens = keras.Input((None,), dtype="int32")
x = layers.Embedding(len(ALPHABET), 64)(tokens)
for _ in range(2):
    x = block(x, 64)
x = layers.GlobalAveragePooling1D()(x)
x = layers.Dense(64, activation="relu")(x)
model = keras.Model(tokens, layers.Dense(1)(x))
model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", jit_compile=True)
train = Molecules([random_smiles() for _ in range(1600)])
model.fit(train, epochs=6, verbose=2)
