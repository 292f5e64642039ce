"""Sleep stages from EEG epochs that are stored as one compressed file per night."""

import math
import pathlib

import keras
import numpy as np
from keras import layers

FOLDER, NIGHTS, EPOCHS_PER_NIGHT, SAMPLES = pathlib.Path("eeg"), 8, 240, 600
STAGES = 5


def record_nights():
    FOLDER.mkdir(exist_ok=True)
    rng = np.random.default_rng(21)
    t = np.arange(SAMPLES) / 100
    for night in range(NIGHTS):
        stage = np.sort(rng.integers(0, STAGES, EPOCHS_PER_NIGHT))
        wave = np.sin(2 * np.pi * (1 + 3 * stage[:, None]) * t + rng.uniform(0, 6, (len(stage), 1)))
        eeg = np.stack([wave + rng.normal(0, 0.8, wave.shape) for _ in range(2)], -1)
        np.savez_compressed(FOLDER / f"night{night}.npz", eeg=eeg.astype("float32"), stage=stage)


class Nights(keras.utils.PyDataset):
    def __init__(self, files, batch_size=24, **kwargs):
        super().__init__(**kwargs)
        self.files, self.batch_size = files, batch_size
        self.per_night = math.ceil(EPOCHS_PER_NIGHT / batch_size)
        self.order = np.random.default_rng(0).permutation(len(self))

    def __len__(self):
        return len(self.files) * self.per_night

    def __getitem__(self, index):
        night, part = divmod(int(self.order[index]), self.per_night)
        data = np.load(self.files[night])
        rows = slice(part * self.batch_size, (part + 1) * self.batch_size)
        x, y = data["eeg"][rows], data["stage"][rows]
        x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
        return x, y

    def on_epoch_end(self):
        np.random.shuffle(self.order)


record_nights()
files = sorted(FOLDER.glob("*.npz"))
inputs = keras.Input((SAMPLES, 2))
x = inputs
for filters, stride in ((16, 3), (32, 2), (48, 2)):
    x = layers.Conv1D(filters, 9, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.Activation("relu")(x)
x = layers.Bidirectional(layers.GRU(16))(x)
x = layers.Dropout(0.3)(x)
model = keras.Model(inputs, layers.Dense(STAGES, activation="softmax")(x))
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
)
model.fit(Nights(files[:-1]), validation_data=Nights(files[-1:]), epochs=6, verbose=2)
