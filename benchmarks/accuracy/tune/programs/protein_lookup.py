"""Protein families by k-mers; memory was short once, therefore the callback at the end."""

import gc
import itertools
from dataclasses import dataclass, field

import numpy as np
from keras import Input, Model, callbacks, layers, optimizers

LETTERS = "ACDEFGHIKLMNPQRSTVWY"


@dataclass
class Kmer:
    text: str
    index: int
    parents: list = field(default_factory=list)


class Vocabulary:
    def __init__(self, k=4, limit=12_000):
        texts = itertools.islice(itertools.product(LETTERS, repeat=k), limit)
        self.kmers = {"".join(t): Kmer("".join(t), i) for i, t in enumerate(texts)}
        for kmer in self.kmers.values():
            kmer.parents.append({"prefix": kmer.text[:-1], "suffix": kmer.text[1:]})

    def count(self, sequence, size):
        row = np.zeros(size, np.float32)
        for start in range(len(sequence) - 3):
            kmer = self.kmers.get(sequence[start : start + 4])
            if kmer is not None:
                row[kmer.index % size] += 1
        return row


class ReleaseMemory(callbacks.Callback):
    """Otherwise the notebook's kernel died on the old laptop."""

    def on_train_batch_end(self, batch, logs=None):
        gc.collect()


rng = np.random.default_rng(12)
vocabulary = Vocabulary()
families = rng.integers(0, 8, 600)
sequences = ["".join(rng.choice(list(LETTERS[: 6 + f]), 120)) for f in families]
table = np.stack([vocabulary.count(s, 2000) for s in sequences])

kmers = Input((2000,))
hidden = layers.Dropout(0.2)(layers.Dense(96, activation="relu")(kmers))
model = Model(kmers, layers.Dense(8, activation="softmax")(hidden))
model.compile(optimizers.AdamW(1e-3), "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(table, families, batch_size=20, epochs=3, verbose=2, callbacks=[ReleaseMemory()])
