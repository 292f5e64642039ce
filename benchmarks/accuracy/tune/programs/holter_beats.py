"""Beat classification from two-lead Holter strips kept in recording archives."""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"

import argparse
import pathlib
import tempfile

import keras
import numpy as np
from keras import layers

KINDS = ("normal", "atrial", "ventricular", "paced")
SAMPLES = 240


def synth_beats(rng, n):
    t = np.linspace(-1.0, 1.0, SAMPLES)
    kind = rng.integers(0, len(KINDS), n)
    width = np.array([0.05, 0.05, 0.14, 0.07])[kind][:, None] * rng.uniform(0.8, 1.25, (n, 1))
    shift = rng.normal(0.0, 0.08, (n, 1))
    p_wave = np.array([0.18, 0.03, 0.05, 0.1])[kind][:, None]
    qrs = np.exp(-(((t - shift) / width) ** 2))
    beat = qrs + p_wave * np.exp(-(((t - shift + 0.45) / 0.09) ** 2))
    beat += 0.25 * np.exp(-(((t - shift - 0.5) / 0.16) ** 2))
    spike = (kind == 3)[:, None] * 0.7 * (np.abs(t - shift + 0.22) < 0.012)
    lead_1 = beat + spike + rng.normal(0, 0.12, (n, SAMPLES))
    lead_2 = -0.5 * np.gradient(beat, axis=1) * 20 + spike + rng.normal(0, 0.12, (n, SAMPLES))
    strip = np.stack([lead_1, lead_2], axis=-1)
    return (strip * 2000).astype(np.int16), kind.astype(np.int32)


def write_archive(folder, recordings, beats, seed):
    rng = np.random.default_rng(seed)
    paths = []
    for i in range(recordings):
        strips, kinds = synth_beats(rng, beats)
        path = folder / f"recording_{i:03d}.npz"
        np.savez_compressed(path, strips=strips, kinds=kinds)
        paths.append(path)
    return paths


class HolterBatches(keras.utils.PyDataset):
    """Batches drawn over all recordings; one batch holds beats of one recording."""

    def __init__(self, paths, beats, batch_size, augment=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.paths = paths
        self.batch_size = batch_size
        self.augment = augment
        self.rng = np.random.default_rng(seed)
        per_recording = beats // batch_size
        self.index = [(p, b) for p in range(len(paths)) for b in range(per_recording)]
        self.on_epoch_end()

    def __len__(self):
        return len(self.index)

    def on_epoch_end(self):
        self.rng.shuffle(self.index)

    def read_recording(self, number):
        with np.load(self.paths[number]) as archive:
            return archive["strips"], archive["kinds"]

    def __getitem__(self, i):
        number, block = self.index[i]
        strips, kinds = self.read_recording(number)
        rows = slice(block * self.batch_size, (block + 1) * self.batch_size)
        x = strips[rows].astype(np.float32) / 2000.0
        if self.augment:
            x = x * self.rng.uniform(0.85, 1.15, (len(x), 1, 2)).astype(np.float32)
            x = np.roll(x, int(self.rng.integers(-8, 9)), axis=1)
        return x, kinds[rows]


def build_model():
    strip = keras.Input((SAMPLES, 2))
    x = strip
    for filters in (24, 32, 48):
        x = layers.Conv1D(filters, 7, strides=2, padding="same", use_bias=False)(x)
        x = layers.BatchNormalization(momentum=0.9)(x)
        x = layers.Activation("relu")(x)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dense(48, activation="relu")(x)
    return keras.Model(strip, layers.Dense(len(KINDS))(x), name="beats")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--recordings", type=int, default=6)
    parser.add_argument("--beats", type=int, default=2560)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    keras.utils.set_random_seed(11)

    with tempfile.TemporaryDirectory() as tmp:
        folder = pathlib.Path(tmp)
        paths = write_archive(folder, args.recordings, args.beats, seed=21)
        held, fresh = paths[-1:], paths[:-1]
        train = HolterBatches(
            fresh, args.beats, args.batch_size, augment=True, workers=1, max_queue_size=8
        )
        valid = HolterBatches(held, args.beats, args.batch_size, workers=1)
        model = build_model()
        model.compile(
            optimizer=keras.optimizers.Adam(1e-3),
            loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        print(f"{len(fresh)} recordings to train on, {len(train)} batches an epoch")
        history = model.fit(train, validation_data=valid, epochs=args.epochs, verbose=2)
        best = max(history.history["val_accuracy"])
        print(f"best validation accuracy {best:.4f}")


if __name__ == "__main__":
    main()
