"""Detect worn axle bearings of freight cars from trackside vibration."""

import os
import tempfile

import numpy as np
import keras
from keras import layers

CARS = 1600
LENGTH = 2048
FAULTS = 4
BATCH = 32
EPOCHS = 12


def recordings(count, seed):
    rng = np.random.default_rng(seed)
    fault = rng.integers(0, FAULTS, count)
    t = np.arange(LENGTH, dtype=np.float32)
    x = rng.normal(0, 1, (count, LENGTH)).astype(np.float32)
    for i, f in enumerate(fault):
        if f:
            period = 40 + 22 * f + rng.uniform(-2, 2)
            ring = np.exp(-((t % period) / 6.0)) * np.sin(0.9 * (t % period))
            x[i] += 1.8 * ring
    return x, fault.astype(np.int32)


class Trackside(keras.utils.PyDataset):
    """Batches with changed speed, gain, passing noise and a band envelope."""

    def __init__(self, x, fault, seed, augment, **kwargs):
        super().__init__(**kwargs)
        self.x, self.fault = x, fault
        self.augment = augment
        self.rng = np.random.default_rng(seed)
        self.order = np.arange(len(x))

    def __len__(self):
        return len(self.x) // BATCH

    def on_epoch_end(self):
        if self.augment:
            self.rng.shuffle(self.order)

    def change(self, x):
        n = len(x)
        grid = np.arange(LENGTH)
        speed = self.rng.uniform(0.95, 1.05, n)
        x = np.stack([np.interp(grid * s % LENGTH, grid, row) for s, row in zip(speed, x)])
        x *= self.rng.uniform(0.7, 1.3, (n, 1))
        return x + 0.3 * np.cumsum(self.rng.normal(0, 0.05, x.shape), axis=1)

    def __getitem__(self, i):
        rows = self.order[i * BATCH : (i + 1) * BATCH]
        x = self.x[rows]
        if self.augment:
            x = self.change(x)
        f = np.fft.rfft(x, axis=1)
        f[:, :60] = 0
        band = np.fft.irfft(f, n=LENGTH, axis=1)
        out = np.stack([x, band, np.abs(band)], axis=-1).astype(np.float32)
        return out, self.fault[rows]


class Confusion(keras.callbacks.Callback):
    """Prints the share found of each fault after an epoch."""

    def __init__(self, data):
        super().__init__()
        self.data = data

    def on_epoch_end(self, epoch, logs=None):
        found = np.zeros(FAULTS)
        total = np.zeros(FAULTS)
        for i in range(len(self.data)):
            x, fault = self.data[i]
            guess = np.argmax(self.model.predict_on_batch(x), axis=-1)
            np.add.at(total, fault, 1)
            np.add.at(found, fault, guess == fault)
        print("  found:", np.round(found / np.maximum(total, 1), 2), flush=True)


def make_model():
    model = keras.Sequential([keras.Input((LENGTH, 3))])
    for width in (24, 32, 48):
        model.add(layers.Conv1D(width, 9, padding="same", use_bias=False))
        model.add(layers.BatchNormalization())
        model.add(layers.Activation("relu"))
        model.add(layers.MaxPooling1D(2))
    model.add(layers.GlobalMaxPooling1D())
    model.add(layers.Dense(FAULTS, activation="softmax"))
    return model


def main():
    keras.utils.set_random_seed(3)
    x, fault = recordings(CARS + 320, 3)
    train = Trackside(x[:CARS], fault[:CARS], 1, True, workers=1, max_queue_size=8)
    held = Trackside(x[CARS:], fault[CARS:], 2, False)
    model = make_model()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    with tempfile.TemporaryDirectory() as folder:
        model.fit(
            train,
            epochs=EPOCHS,
            verbose=2,
            callbacks=[
                Confusion(held),
                keras.callbacks.ModelCheckpoint(os.path.join(folder, "bearing.keras")),
            ],
        )


if __name__ == "__main__":
    main()
