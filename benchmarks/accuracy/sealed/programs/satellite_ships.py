"""Ship or no ship in radar chips; the chips are despeckled once the net has seen the raw ones."""

import keras
import numpy as np

CHIP, BATCH, CHIPS, EPOCHS = 32, 32, 1600, 6


def make_chips(count, rng):
    sea = rng.rayleigh(0.3, (count, CHIP, CHIP))
    label = rng.integers(0, 2, count)
    for k in np.flatnonzero(label):
        r, c = rng.integers(10, 22, 2)
        long, wide = rng.integers(2, 7), rng.integers(1, 3)
        sea[k, r - long : r + long, c - wide : c + wide] += rng.uniform(0.3, 0.9)
    return sea.astype("float32"), label.astype("float32")


def despeckle(chip, low=9, high=23):
    """Lee's filter, for the middle of the chip."""
    out = chip.copy()
    noise = chip.var() * 0.25
    for r in range(low, high):
        for c in range(low, high):
            window = chip[r - 1 : r + 2, c - 1 : c + 2]
            mean, var = window.mean(), window.var()
            gain = max(var - noise, 0.0) / (var + 1e-6)
            out[r, c] = mean + gain * (chip[r, c] - mean)
    return out


class RadarSequence(keras.utils.PyDataset):
    def __init__(self, chips, labels, raw_epochs=2, **kwargs):
        super().__init__(**kwargs)
        self.chips, self.labels = chips, labels
        self.raw_epochs, self.epoch = raw_epochs, 0
        self.rng = np.random.default_rng(2)
        self.order = self.rng.permutation(len(chips))

    def __len__(self):
        return len(self.chips) // BATCH

    def __getitem__(self, index):
        rows = self.order[index * BATCH : (index + 1) * BATCH]
        x = self.chips[rows]
        if self.epoch >= self.raw_epochs:
            x = np.stack([despeckle(chip) for chip in x])
        if self.rng.random() < 0.5:
            x = x[:, :, ::-1]
        return x[..., None].copy(), self.labels[rows]

    def on_epoch_end(self):
        self.epoch += 1
        self.order = self.rng.permutation(len(self.chips))


def build_model():
    inputs = keras.Input((CHIP, CHIP, 1))
    x = inputs
    for filters in (32, 64, 96):
        x = keras.layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.Activation("relu")(x)
        x = keras.layers.MaxPooling2D()(x)
    x = keras.layers.GlobalAveragePooling2D()(x)
    x = keras.layers.Dropout(0.2)(x)
    model = keras.Model(inputs, keras.layers.Dense(1, activation="sigmoid")(x))
    model.compile(keras.optimizers.Adam(1e-3), "binary_crossentropy", metrics=["accuracy"])
    return model


rng = np.random.default_rng(21)
x_train, y_train = make_chips(CHIPS, rng)
x_test, y_test = make_chips(300, rng)
model = build_model()
model.fit(RadarSequence(x_train, y_train), epochs=EPOCHS, verbose=2)
x_test = np.stack([despeckle(chip) for chip in x_test])[..., None]
print("test:", model.evaluate(x_test, y_test, verbose=0))
