"""Electric load of the next hours from the last two days: an LSTM with the usual callbacks."""

import pathlib

import numpy as np
import tensorflow as tf

PAST, AHEAD, BATCH = 48, 6, 32


def load_curve(days=180):
    rng = np.random.RandomState(5)
    hours = np.arange(24 * days)
    day = 1 + 0.3 * np.sin(2 * np.pi * (hours % 24 - 7) / 24)
    week = np.where(hours // 24 % 7 >= 5, 0.8, 1.0)
    temperature = 10 + 8 * np.sin(2 * np.pi * hours / (24 * 365)) + rng.randn(len(hours))
    load = day * week + 0.01 * np.abs(temperature - 16) + 0.03 * rng.randn(len(hours))
    return np.stack([load, temperature / 20, np.sin(hours / 24 * 2 * np.pi)], 1).astype("float32")


series = load_curve()
n = len(series)
mean, std = series[: int(0.7 * n)].mean(0), series[: int(0.7 * n)].std(0)
series = (series - mean) / std


def windows(part, shuffle):
    targets = np.lib.stride_tricks.sliding_window_view(part[PAST:, 0], AHEAD)
    return tf.keras.utils.timeseries_dataset_from_array(
        part[:-AHEAD], targets, PAST, batch_size=BATCH, shuffle=shuffle, seed=1
    )


train = windows(series[: int(0.7 * n)], True)
valid = windows(series[int(0.7 * n) : int(0.85 * n)], False)
test = windows(series[int(0.85 * n) :], False)

model = tf.keras.models.Sequential()
model.add(tf.keras.layers.InputLayer((PAST, 3)))
model.add(tf.keras.layers.LSTM(32))
model.add(tf.keras.layers.Dense(AHEAD))
model.compile(loss="huber", optimizer=tf.keras.optimizers.Adam(2e-3), metrics=["mae"])
model.summary()
pathlib.Path("out").mkdir(exist_ok=True)
callbacks = [
    tf.keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
    tf.keras.callbacks.ReduceLROnPlateau(factor=0.5, patience=2),
    tf.keras.callbacks.CSVLogger("out/history.csv"),
    tf.keras.callbacks.ModelCheckpoint("out/best.keras", save_best_only=True),
]
history = model.fit(train, validation_data=valid, epochs=7, callbacks=callbacks, verbose=2)
print("test", model.evaluate(test, verbose=0))
