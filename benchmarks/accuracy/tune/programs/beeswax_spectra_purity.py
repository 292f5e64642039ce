"""Estimate adulterants in beeswax from infrared spectra (Keras fit on a PyDataset)."""

import argparse
import os
import tempfile

import numpy as np
import keras
from keras import layers

CHANNELS = 360
ADULTERANTS = ["paraffin", "stearin", "tallow", "water"]


def write_campaign(path, n, rng):
    grid = np.linspace(0.0, 1.0, CHANNELS, dtype="float32")
    centres = np.array([0.15, 0.33, 0.52, 0.78], dtype="float32")
    widths = np.array([0.02, 0.05, 0.03, 0.08], dtype="float32")
    peaks = np.exp(-(((grid[None] - centres[:, None]) / widths[:, None]) ** 2))
    base = np.exp(-(((grid - 0.44) / 0.15) ** 2)) + 0.5 * np.exp(-(((grid - 0.9) / 0.04) ** 2))
    amount = rng.dirichlet([8.0, 1.0, 1.0, 1.0, 0.6], size=n).astype("float32")
    fractions = amount[:, 1:]
    spectra = amount[:, :1] * base + fractions @ peaks
    spectra += rng.normal(0, 0.02, size=spectra.shape)
    spectra = np.round(spectra, 3).astype("float32")
    batch_id = rng.integers(0, 40, size=n)
    np.savez_compressed(path, spectra=spectra, fractions=fractions, campaign=batch_id)


class SpectraSequence(keras.utils.PyDataset):
    """Random batches of standardised spectra from one campaign archive."""

    def __init__(self, path, indices, batch_size, shuffle=True, noise=0.0, **kwargs):
        super().__init__(**kwargs)
        self.archive = np.load(path)
        self.indices = np.array(indices)
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.noise = noise
        self.rng = np.random.default_rng(17)
        self.on_epoch_end()

    def __len__(self):
        return len(self.indices) // self.batch_size

    def __getitem__(self, i):
        rows = self.indices[i * self.batch_size : (i + 1) * self.batch_size]
        x = self.archive["spectra"][rows]
        y = self.archive["fractions"][rows]
        mean = x.mean(axis=1, keepdims=True)
        std = x.std(axis=1, keepdims=True) + 1e-6
        x = (x - mean) / std
        if self.noise:
            x = x + self.rng.normal(0, self.noise, size=x.shape).astype("float32")
        return x[..., None], y

    def on_epoch_end(self):
        if self.shuffle:
            self.rng.shuffle(self.indices)


def residual(x, filters, stride=1):
    skip = layers.Conv1D(filters, 1, strides=stride, padding="same")(x)
    y = layers.Conv1D(filters, 7, strides=stride, padding="same")(x)
    y = layers.BatchNormalization()(y)
    y = layers.Activation("gelu")(y)
    y = layers.Conv1D(filters, 5, padding="same")(y)
    y = layers.BatchNormalization()(y)
    return layers.Activation("gelu")(layers.add([skip, y]))


def build():
    inp = keras.Input((CHANNELS, 1))
    x = residual(inp, 16, 2)
    x = residual(x, 24, 2)
    x = residual(x, 32, 2)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(64, activation="gelu")(x)
    x = layers.Dropout(0.1)(x)
    out = layers.Dense(len(ADULTERANTS), activation="sigmoid")(x)
    return keras.Model(inp, out, name="wax")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--spectra", type=int, default=9000)
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--batch-size", type=int, default=96)
    args = ap.parse_args()

    keras.utils.set_random_seed(5)
    rng = np.random.default_rng(5)
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "campaign.npz")
        write_campaign(path, args.spectra, rng)
        order = rng.permutation(args.spectra)
        cut = int(0.9 * args.spectra)
        train = SpectraSequence(path, order[:cut], args.batch_size, noise=0.01)
        valid = SpectraSequence(path, order[cut:], args.batch_size, shuffle=False)

        model = build()
        model.compile(
            optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
            loss="mse",
            metrics=[keras.metrics.MeanAbsoluteError(name="mae")],
        )
        model.fit(
            train,
            validation_data=valid,
            epochs=args.epochs,
            verbose=2,
            callbacks=[keras.callbacks.ReduceLROnPlateau(patience=2, factor=0.5)],
        )
        x, y = valid[0]
        err = np.abs(model.predict(x, verbose=0) - y).mean(axis=0)
        for name, e in zip(ADULTERANTS, err):
            print(f"{name:10s} {e:.4f}")


if __name__ == "__main__":
    main()
