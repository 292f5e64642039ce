"""Five-stage sleep scoring from a single EEG derivation.

A small 1D convnet reads 512-sample epochs cut out of whole-night recordings.
The first rounds see windows in random order, later ones follow a curriculum
from clean to noisy windows.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import tensorflow as tf
from tensorflow import keras

WINDOW = 512
STAGES = 5
BATCH = 64
ROUNDS = 7
WARM_ROUNDS = 2
STEPS_PER_ROUND = 72


def make_nights(n_nights=12, length=60_000, seed=4):
    rng = np.random.default_rng(seed)
    nights = np.empty((n_nights, length), np.float32)
    t = np.arange(length) / 100.0
    stages = rng.integers(0, STAGES, (n_nights, length // WINDOW + 1))
    freqs = np.array([10.0, 7.0, 13.0, 1.5, 5.0])
    for i in range(n_nights):
        f = np.repeat(freqs[stages[i]], WINDOW)[:length]
        nights[i] = np.sin(2 * np.pi * f * t) + rng.normal(0, 0.8, length)
    return nights, stages.astype(np.int32)


class NightWindows(keras.utils.PyDataset):
    """Serves windows that start anywhere inside any of the nights."""

    def __init__(self, nights, stages, **kwargs):
        super().__init__(**kwargs)
        self.nights = nights
        self.stages = stages
        self.rng = np.random.default_rng(11)
        starts = np.arange(0, nights.shape[1] - WINDOW, 3)
        self.night_of = np.repeat(np.arange(len(nights)), len(starts))
        self.start_of = np.tile(starts, len(nights))
        # line noise estimate per window, refined a little after every round
        self.noise = self.rng.gamma(2.0, 1.0, len(self.start_of))
        self.round = 0
        self.perm = self.rng.permutation(len(self.start_of))

    def __len__(self):
        return STEPS_PER_ROUND

    def window_ids(self, idx):
        if self.round < WARM_ROUNDS:
            return self.perm[idx * BATCH : (idx + 1) * BATCH]
        share = min(1.0, 0.2 + 0.1 * (self.round - WARM_ROUNDS))
        ranked = np.lexsort((self.start_of, self.noise))
        allowed = int(share * len(ranked))
        return ranked[self.rng.integers(0, allowed, BATCH)]

    def __getitem__(self, idx):
        ids = self.window_ids(idx)
        x = np.stack(
            [self.nights[n, s : s + WINDOW] for n, s in zip(self.night_of[ids], self.start_of[ids])]
        )
        centre = (self.start_of[ids] + WINDOW // 2) // WINDOW
        y = self.stages[self.night_of[ids], centre]
        x = x - x.mean(axis=1, keepdims=True)
        return x[..., None], y

    def on_epoch_end(self):
        self.round += 1
        self.noise *= self.rng.uniform(0.97, 1.03, len(self.noise))
        self.perm = self.rng.permutation(len(self.start_of))


def build_scorer():
    inp = keras.Input((WINDOW, 1))
    x = keras.layers.Conv1D(32, 15, strides=2, padding="same", activation="relu")(inp)
    for width in (64, 96):
        x = keras.layers.Conv1D(width, 7, padding="same", activation="relu")(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.MaxPooling1D(2)(x)
    x = keras.layers.GlobalAveragePooling1D()(x)
    x = keras.layers.Dropout(0.3)(x)
    return keras.Model(inp, keras.layers.Dense(STAGES)(x), name="scorer")


def main():
    keras.utils.set_random_seed(3)
    nights, stages = make_nights()
    feed = NightWindows(nights, stages)
    print(f"{len(feed.start_of)} windows in {len(nights)} nights")
    scorer = build_scorer()
    scorer.compile(
        optimizer=keras.optimizers.AdamW(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    hist = scorer.fit(feed, epochs=ROUNDS, verbose=2)
    print("final accuracy", round(hist.history["accuracy"][-1], 3))


if __name__ == "__main__":
    main()
