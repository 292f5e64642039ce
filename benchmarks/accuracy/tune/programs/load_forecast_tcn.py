"""Day-ahead load forecast, dilated causal convolutions (TCN), one region.

Input: 7 days of hourly load/temperature/calendar, output: the next 24 hours.
"""

import os

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import json
import pathlib
import tempfile

import keras
import numpy as np
import tensorflow as tf

keras.utils.set_random_seed(42)
HIST, HORIZON, BATCH = 168, 24, 64
EPOCHS = 11
out = pathlib.Path(tempfile.mkdtemp(prefix="load_tcn_"))


def simulate(hours=24 * 365, seed=1):
    rng = np.random.default_rng(seed)
    t = np.arange(hours)
    temp = 10 + 9 * np.sin(2 * np.pi * (t / 8760 - 0.3)) + 4 * np.sin(2 * np.pi * t / 24 - 2)
    temp += np.convolve(rng.normal(0, 1.2, hours), np.ones(36) / 6, mode="same")
    weekday = (t // 24) % 7 < 5
    load = 60 + 9 * np.sin(2 * np.pi * t / 24 - 1.8) + 7 * weekday + 0.9 * np.maximum(0, 14 - temp)
    load += rng.normal(0, 1.0, hours)
    feats = np.stack(
        [load, temp, np.sin(2 * np.pi * t / 24), np.cos(2 * np.pi * t / 24), weekday.astype(float)],
        axis=1,
    )
    return feats.astype(np.float32)


def windows(feats, shuffle):
    x = feats[:-HORIZON]
    # targets: HORIZON consecutive loads following the window
    y = np.lib.stride_tricks.sliding_window_view(feats[HIST:, 0], HORIZON)
    return keras.utils.timeseries_dataset_from_array(
        x,
        np.ascontiguousarray(y),
        sequence_length=HIST,
        sequence_stride=2,
        batch_size=BATCH,
        shuffle=shuffle,
        seed=0,
    ).prefetch(tf.data.AUTOTUNE)


def tcn(norm):
    inp = keras.Input((HIST, 5))
    x = norm(inp)
    x = keras.layers.Conv1D(48, 1)(x)
    for d in (1, 2, 4, 8, 16, 32):
        h = keras.layers.Conv1D(48, 3, padding="causal", dilation_rate=d, activation="relu")(x)
        h = keras.layers.SpatialDropout1D(0.05)(h)
        h = keras.layers.Conv1D(48, 1)(h)
        x = keras.layers.Add()([x, h])
    x = x[:, -1]
    return keras.Model(inp, keras.layers.Dense(HORIZON)(x))


class Backtest(keras.callbacks.Callback):
    """Every few epochs: MAPE per lead hour on the four hold-out weeks."""

    def __init__(self, ds, every):
        super().__init__()
        self.ds, self.every, self.rows = ds, every, []
        self.truth = np.concatenate([y.numpy() for _, y in ds])

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.every:
            return
        p = self.model.predict(self.ds, verbose=0)
        mape = np.mean(np.abs(p - self.truth) / self.truth, axis=0)
        self.rows.append({"epoch": epoch + 1, "mape": mape.round(4).tolist()})
        (out / "backtest.json").write_text(json.dumps(self.rows))
        print(f"   backtest  h+1 {mape[0]:.3f}  h+24 {mape[-1]:.3f}")


def warm_cosine(epoch, lr):
    peak, warm = 2e-3, 3
    if epoch < warm:
        return peak * (epoch + 1) / warm
    return peak * (0.02 + 0.98 * 0.5 * (1 + np.cos(np.pi * (epoch - warm) / (EPOCHS - warm))))


def main():
    feats = simulate()
    n_val = 24 * 7 * 4
    train, hold = feats[:-n_val], feats[-n_val - HIST :]
    norm = keras.layers.Normalization(axis=-1)
    norm.adapt(train)

    train_ds, hold_ds = windows(train, True), windows(hold, False)
    model = tcn(norm)
    model.compile(keras.optimizers.Adam(1e-3, clipnorm=1.0), loss="huber", metrics=["mae"])
    model.fit(
        train_ds,
        validation_data=hold_ds,
        validation_freq=2,
        epochs=EPOCHS,
        verbose=2,
        callbacks=[
            keras.callbacks.LearningRateScheduler(warm_cosine),
            keras.callbacks.CSVLogger(str(out / "log.csv")),
            Backtest(hold_ds, every=5),
        ],
    )
    model.save(out / "tcn.keras")


if __name__ == "__main__":
    main()
