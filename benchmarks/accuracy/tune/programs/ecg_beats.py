"""Beat classification on a synthetic two-lead ECG corpus (AAMI style classes)."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

CLASSES = ["N", "S", "V", "F", "Q"]
BEAT_LEN = 360
N_RECORDS = 16
BEATS_PER_RECORD = 260
BATCH = 32
EPOCHS = 2
SEED = 11


def synth_beat(rng, label):
    t = np.linspace(-0.5, 0.5, BEAT_LEN)
    width = [0.02, 0.022, 0.055, 0.04, 0.03][label]
    amp = [1.0, 0.8, 1.4, 1.1, 0.5][label]
    shift = [0.0, -0.08, 0.03, 0.02, 0.0][label]
    qrs = amp * np.exp(-(((t - shift) / width) ** 2))
    p_wave = 0.0 if label == 2 else 0.15 * np.exp(-(((t - shift + 0.18) / 0.03) ** 2))
    t_wave = 0.3 * np.exp(-(((t - shift - 0.25) / 0.06) ** 2))
    lead1 = qrs + p_wave + t_wave
    lead2 = 0.6 * qrs - 0.1 * t_wave + 0.3 * p_wave
    sig = np.stack([lead1, lead2], axis=-1)
    wander = 0.1 * np.sin(2 * np.pi * (t * rng.uniform(0.2, 0.6) + rng.uniform()))
    return (sig + wander[:, None] + rng.normal(0, 0.06, sig.shape)).astype("float32")


def write_corpus(root, rng):
    paths = []
    for r in range(N_RECORDS):
        symbols = rng.choice(len(CLASSES), BEATS_PER_RECORD, p=[0.5, 0.15, 0.2, 0.08, 0.07])
        signals = np.stack([synth_beat(rng, s) for s in symbols])
        path = os.path.join(root, f"rec_{100 + r}.npz")
        np.savez_compressed(path, signals=signals, symbols=symbols.astype("int32"))
        paths.append(path)
    return paths


def read_record(path):
    with np.load(path) as record:
        return record["signals"], record["symbols"]


class BeatSequence(keras.utils.PyDataset):
    """Yields batches of (beat, label); beats are addressed as (record, position)."""

    def __init__(self, paths, batch_size, shuffle=True, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.paths = paths
        self.batch_size = batch_size
        self.shuffle = shuffle
        self.rng = np.random.default_rng(seed)
        self.index = [(r, b) for r in range(len(paths)) for b in range(BEATS_PER_RECORD)]
        self.on_epoch_end()

    def __len__(self):
        return len(self.index) // self.batch_size

    def __getitem__(self, i):
        items = self.order[i * self.batch_size : (i + 1) * self.batch_size]
        x = np.empty((len(items), BEAT_LEN, 2), "float32")
        y = np.empty((len(items),), "int32")
        for row, k in enumerate(items):
            rec, beat = self.index[k]
            signals, symbols = read_record(self.paths[rec])
            window = signals[beat]
            x[row] = (window - window.mean(axis=0)) / (window.std(axis=0) + 1e-6)
            y[row] = symbols[beat]
        return x, y

    def on_epoch_end(self):
        self.order = np.arange(len(self.index))
        if self.shuffle:
            self.rng.shuffle(self.order)


def residual_block(x, filters, stride):
    shortcut = layers.Conv1D(filters, 1, strides=stride, use_bias=False)(x)
    y = layers.Conv1D(filters, 7, strides=stride, padding="same", use_bias=False)(x)
    y = layers.BatchNormalization()(y)
    y = layers.ReLU()(y)
    y = layers.Conv1D(filters, 7, padding="same", use_bias=False)(y)
    y = layers.BatchNormalization()(y)
    return layers.ReLU()(layers.add([y, shortcut]))


def build_model():
    inputs = keras.Input((BEAT_LEN, 2))
    x = layers.Conv1D(32, 15, padding="same", activation="relu")(inputs)
    for filters, stride in [(32, 2), (64, 2), (96, 2), (128, 2)]:
        x = residual_block(x, filters, stride)
    x = layers.GlobalAveragePooling1D()(x)
    x = layers.Dropout(0.3)(x)
    outputs = layers.Dense(len(CLASSES), activation="softmax")(x)
    model = keras.Model(inputs, outputs, name="resnet1d")
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    return model


def main():
    keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    root = tempfile.mkdtemp(prefix="ecg_")
    paths = write_corpus(root, rng)
    train_paths, val_paths = paths[:-4], paths[-4:]

    train = BeatSequence(train_paths, BATCH, seed=SEED)
    val_signals, val_symbols = zip(*(read_record(p) for p in val_paths))
    x_val = np.concatenate(val_signals)
    x_val = (x_val - x_val.mean(axis=1, keepdims=True)) / (x_val.std(axis=1, keepdims=True) + 1e-6)
    y_val = np.concatenate(val_symbols)

    model = build_model()
    print("parameters:", model.count_params(), "steps per epoch:", len(train))
    started = time.time()
    history = model.fit(train, validation_data=(x_val, y_val), epochs=EPOCHS, verbose=2)
    print("best val accuracy: %.3f" % max(history.history["val_accuracy"]))
    print("training took %.1f s" % (time.time() - started))


if __name__ == "__main__":
    main()
