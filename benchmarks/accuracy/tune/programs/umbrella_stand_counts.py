"""Forecast lost umbrellas left in a cafe stand from hourly weather windows stored in yearly shards."""

import os
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

HOURS, CHANNELS = 72, 12
YEARS = range(2016, 2022)
WINDOWS = 3200


def write_year(folder, year):
    rng = np.random.default_rng(year)
    hours = WINDOWS + HOURS
    t = np.arange(hours)[:, None]
    phase = rng.uniform(0, 6.28, CHANNELS)
    series = np.sin(t / 24 * 6.28 + phase) + rng.normal(scale=0.4, size=(hours, CHANNELS))
    x = np.stack([series[i : i + HOURS] for i in range(WINDOWS)]).astype(np.float32)
    rain = np.maximum(0, x[:, -24:, 0] + x[:, -24:, 3]).mean(1)
    y = rng.poisson(1.0 + 4.0 * rain).astype(np.float32)
    path = os.path.join(folder, f"windows_{year}.npz")
    np.savez_compressed(path, x=x, y=y)
    return path


class WeatherWindows(keras.utils.PyDataset):
    def __init__(self, paths, batch_size=128, **kw):
        super().__init__(**kw)
        self.paths = paths
        self.batch_size = batch_size
        self.per_shard = WINDOWS // batch_size
        self.order = np.arange(len(paths) * self.per_shard)
        self.rng = np.random.default_rng(0)

    def __len__(self):
        return len(self.order)

    def __getitem__(self, i):
        shard, part = divmod(int(self.order[i]), self.per_shard)
        with np.load(self.paths[shard]) as z:
            lo = part * self.batch_size
            return z["x"][lo : lo + self.batch_size], z["y"][lo : lo + self.batch_size]

    def on_epoch_end(self):
        self.rng.shuffle(self.order)


def build():
    inp = keras.Input((HOURS, CHANNELS))
    x = layers.Conv1D(48, 5, padding="causal", activation="relu")(inp)
    x = layers.Conv1D(48, 5, padding="causal", dilation_rate=4, activation="relu")(x)
    x = layers.Flatten()(layers.AveragePooling1D(6)(x))
    x = layers.Dense(32, activation="relu")(x)
    return keras.Model(inp, layers.Dense(1, activation="softplus")(x))


def main():
    keras.utils.set_random_seed(2)
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_year(folder, y) for y in YEARS]
        train = WeatherWindows(paths[:-1])
        valid = WeatherWindows(paths[-1:])
        model = build()
        model.compile(keras.optimizers.Adam(1e-3), loss="poisson", metrics=["mae"])
        model.fit(train, validation_data=valid, epochs=6, verbose=2)


if __name__ == "__main__":
    main()
