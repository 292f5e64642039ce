"""Successive halving over MLPs for customer churn (tabular)."""

import argparse
import json
import os
import random
import tempfile
import time

os.environ.setdefault("KERAS_BACKEND", "tensorflow")

import keras
import numpy as np
from keras import layers

SPACE = {
    "width": [64, 128, 256],
    "depth": [1, 2, 3],
    "dropout": [0.0, 0.1, 0.3],
    "lr": [3e-4, 1e-3, 3e-3],
    "emb": [4, 8],
}
NUM_NUMERIC, CARDINALITIES = 24, [12, 40, 150]


def simulate_customers(n, rng):
    numeric = rng.normal(size=(n, NUM_NUMERIC)).astype(np.float32)
    cats = np.stack([rng.integers(0, c, n) for c in CARDINALITIES], 1).astype(np.int32)
    effects = [rng.normal(0, 0.8, c) for c in CARDINALITIES]
    score = numeric[:, :6] @ rng.normal(0, 0.7, 6) + np.sin(2 * numeric[:, 6]) * numeric[:, 7]
    score += sum(e[cats[:, i]] for i, e in enumerate(effects)) - 1.0
    churn = (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(np.float32)
    return {"numeric": numeric, "cats": cats}, churn


def build(cfg):
    numeric = keras.Input((NUM_NUMERIC,), name="numeric")
    cats = keras.Input((len(CARDINALITIES),), dtype="int32", name="cats")
    parts = [numeric]
    for i, card in enumerate(CARDINALITIES):
        parts.append(layers.Embedding(card, cfg["emb"])(cats[:, i]))
    x = layers.concatenate(parts)
    for _ in range(cfg["depth"]):
        x = layers.Dense(cfg["width"], activation="relu")(x)
        x = layers.Dropout(cfg["dropout"])(x)
    model = keras.Model([numeric, cats], layers.Dense(1)(x))
    model.compile(
        optimizer=keras.optimizers.Adam(cfg["lr"]),
        loss=keras.losses.BinaryCrossentropy(from_logits=True),
        jit_compile=False,
    )
    return model


def rank_auc(labels, scores):
    """Area under the ROC curve from the ranks (Mann-Whitney)."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(scores)] = np.arange(1, len(scores) + 1)
    pos = labels > 0.5
    n_pos, n_neg = pos.sum(), (~pos).sum()
    return float((ranks[pos].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))


class Trial:
    def __init__(self, number, cfg):
        self.number, self.cfg = number, cfg
        self.model = build(cfg)
        self.epochs_done = 0
        self.auc = 0.0

    def advance(self, epochs, train, val, batch):
        self.model.fit(
            *train,
            batch_size=batch,
            initial_epoch=self.epochs_done,
            epochs=self.epochs_done + epochs,
            verbose=0,
        )
        self.epochs_done += epochs
        inputs, labels = val
        self.auc = rank_auc(labels, self.model.predict(inputs, batch_size=1024, verbose=0)[:, 0])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--trials", type=int, default=6)
    p.add_argument("--rungs", type=int, nargs="+", default=[3, 5, 10])
    p.add_argument("--rows", type=int, default=32768)
    p.add_argument("--batch", type=int, default=128)
    p.add_argument("--seed", type=int, default=8)
    args = p.parse_args()
    keras.utils.set_random_seed(args.seed)
    x, y = simulate_customers(args.rows + 4096, np.random.default_rng(args.seed))
    train = ({k: v[: args.rows] for k, v in x.items()}, y[: args.rows])
    val = ({k: v[args.rows :] for k, v in x.items()}, y[args.rows :])

    rnd = random.Random(args.seed)
    trials = [Trial(i, {k: rnd.choice(v) for k, v in SPACE.items()}) for i in range(args.trials)]
    t0, board = time.time(), []
    for rung, epochs in enumerate(args.rungs):
        for trial in trials:
            trial.advance(epochs, train, val, args.batch)
            board.append({"rung": rung, "trial": trial.number, "auc": trial.auc, **trial.cfg})
            print(
                f"rung {rung} trial {trial.number} epochs {trial.epochs_done} "
                f"auc {trial.auc:.4f}  {time.time() - t0:.1f}s",
                flush=True,
            )
        trials.sort(key=lambda t: -t.auc)
        trials = trials[: max(1, len(trials) // 3)]

    out = tempfile.mkdtemp(prefix="halving_")
    trials[0].model.save(os.path.join(out, "best.keras"))
    with open(os.path.join(out, "board.json"), "w") as f:
        json.dump(board, f, indent=1)
    print("best", trials[0].cfg, f"auc {trials[0].auc:.4f}")


if __name__ == "__main__":
    main()
