"""Routes support tickets to teams; trained batch by batch from a ticket store."""

import dataclasses
import gc
import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow import keras

TEAMS = 14
VOCAB = 8000
MAXLEN = 48
BATCH = 64
STEPS = 480


@dataclasses.dataclass
class Ticket:
    number: int
    words: list
    team: int
    history: list


def load_store(n=20_000, seed=12):
    rng = np.random.default_rng(seed)
    teams = rng.integers(0, TEAMS, n).tolist()
    lengths = rng.integers(8, 20, n).tolist()
    pool = rng.integers(1, VOCAB, 1_000_000).tolist()
    store = []
    at = 0
    for i in range(n):
        if at + 64 > len(pool):
            at = i % 50
        words = pool[at : at + lengths[i]]
        words[0] = 1 + teams[i]
        store.append(Ticket(i, words, teams[i], [("opened", i % 365)]))
        at += lengths[i]
    return store


def assemble(tickets):
    ids = np.zeros((len(tickets), MAXLEN), np.int32)
    for row, t in zip(ids, tickets):
        row[: len(t.words)] = t.words
    return ids, np.fromiter((t.team for t in tickets), np.int32, len(tickets))


def build_router():
    inp = keras.Input((MAXLEN,), dtype="int32")
    x = keras.layers.Embedding(VOCAB, 96)(inp)
    x = keras.layers.Conv1D(192, 5, padding="same", activation="relu")(x)
    x = keras.layers.Conv1D(160, 3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalMaxPooling1D()(x)
    x = keras.layers.Dropout(0.2)(x)
    return keras.Model(inp, keras.layers.Dense(TEAMS, activation="softmax")(x))


class Progress:
    """Running view of the last stretch of steps."""

    def __init__(self, every=60):
        self.every = every
        self.rows = []

    def note(self, step, loss, acc):
        self.rows.append((loss, acc))
        if step % self.every == 0:
            loss, acc = np.mean(self.rows, axis=0)
            print(f"step {step}  loss {loss:.4f}  acc {acc:.3f}")
            self.rows = []


def main():
    keras.utils.set_random_seed(2)
    rng = np.random.default_rng(40)
    store = load_store()
    router = build_router()
    router.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    progress = Progress()
    for step in range(1, STEPS + 1):
        picked = [store[i] for i in rng.integers(0, len(store), BATCH)]
        ids, team = assemble(picked)
        loss, acc = router.train_on_batch(ids, team)
        progress.note(step, float(loss), float(acc))
        if step % 100 == 0:
            router.reset_metrics()
        # the container has little RAM, keep it tidy
        del picked, ids, team
        if step % 6 == 0:
            gc.collect()


if __name__ == "__main__":
    main()
