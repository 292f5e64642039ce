"""Species / behaviour labels for porpoise click trains (toy hydrophone archive)."""

import os
import tempfile

import numpy as np
import keras
from keras import layers

BANDS = 48
FRAMES = 64
CLASSES = 6
CLIPS = 960
BATCH = 32


def write_archive(path, n=CLIPS, seed=11):
    """One archive per deployment: log-mel clips, labels and the depth of the recorder."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, CLASSES, size=n)
    t = np.arange(FRAMES)[None, None, :]
    f = np.arange(BANDS)[None, :, None]
    rate = (3 + 2 * label)[:, None, None]
    centre = (6 + 6 * label)[:, None, None]
    train = (np.sin(2 * np.pi * t * rate / FRAMES) > 0.6) * np.exp(-(((f - centre) / 5.0) ** 2))
    noise = rng.gamma(1.2, 0.35, size=(n, BANDS, FRAMES))
    clips = (train * rng.uniform(0.7, 2.0, size=(n, 1, 1)) + noise).astype("float32")
    depth = rng.uniform(4, 60, size=n).astype("float32")
    np.savez_compressed(path, clips=clips, label=label.astype("int32"), depth=depth)
    return path


class HydrophoneSet(keras.utils.PyDataset):
    def __init__(self, path, indices, batch_size=BATCH, augment=False, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.archive = np.load(path)
        self.indices = np.array(indices)
        self.batch_size = batch_size
        self.augment = augment
        self.rng = np.random.default_rng(seed)
        self.on_epoch_end()

    def __len__(self):
        return int(np.ceil(len(self.indices) / self.batch_size))

    def __getitem__(self, i):
        rows = self.indices[i * self.batch_size : (i + 1) * self.batch_size]
        x = self.archive["clips"][rows]
        d = self.archive["depth"][rows]
        y = self.archive["label"][rows]
        x = np.log1p(x)
        x = (x - x.mean(axis=(1, 2), keepdims=True)) / (x.std(axis=(1, 2), keepdims=True) + 1e-5)
        if self.augment:
            x = self.mask(x)
        return {"clip": x[..., None], "depth": d[:, None] / 60.0}, y

    def mask(self, x):
        x = np.roll(x, self.rng.integers(0, FRAMES), axis=2)
        for row in x:
            b = self.rng.integers(0, BANDS - 6)
            row[b : b + self.rng.integers(1, 6)] = 0.0
        return x

    def on_epoch_end(self):
        if self.augment:
            self.rng.shuffle(self.indices)


def conv_block(x, filters, stride=1):
    x = layers.Conv2D(filters, 3, strides=stride, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x)


def build():
    clip = keras.Input((BANDS, FRAMES, 1), name="clip")
    depth = keras.Input((1,), name="depth")
    x = conv_block(clip, 16)
    x = layers.MaxPooling2D()(x)
    x = conv_block(x, 32)
    x = conv_block(x, 32, stride=2)
    x = conv_block(x, 64)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Concatenate()([x, layers.Dense(8, activation="relu")(depth)])
    x = layers.Dropout(0.3)(x)
    out = layers.Dense(CLASSES, activation="softmax")(x)
    return keras.Model([clip, depth], out)


def main():
    keras.utils.set_random_seed(5)
    folder = tempfile.mkdtemp(prefix="porpoise_")
    path = write_archive(os.path.join(folder, "deployment_07.npz"))
    order = np.random.default_rng(1).permutation(CLIPS)
    held_out, train_rows = order[:160], order[160:]

    train = HydrophoneSet(path, train_rows, augment=True, seed=3)
    valid = HydrophoneSet(path, held_out)

    model = build()
    model.compile(
        optimizer=keras.optimizers.Adam(2e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    model.fit(
        train,
        validation_data=valid,
        epochs=11,
        verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(patience=3, factor=0.5),
            keras.callbacks.CSVLogger(os.path.join(folder, "log.csv")),
        ],
    )
    loss, acc = model.evaluate(valid, verbose=0)
    print(f"held-out clips: loss {loss:.3f} accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
