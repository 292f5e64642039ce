"""LSTM autoencoder on the readings of the cider house: sugar, acidity, CO2 and
temperature of every vat, five minutes apart. High reconstruction error = call Bertrand.
"""

import argparse
import gc
import os
import resource
import time

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"
import numpy as np
import tensorflow as tf
from tensorflow.keras.models import Sequential
from tensorflow.keras.layers import LSTM, Dense, RepeatVector, TimeDistributed, Input

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--batch_size", type=int, default=64)
parser.add_argument("--timesteps", type=int, default=32)
parser.add_argument("--seed", type=int, default=17)
args = parser.parse_args()

tf.keras.utils.set_random_seed(args.seed)
n_features = 6


def make_vats(n_vats=24, length=1400):
    rng = np.random.default_rng(args.seed)
    t = np.arange(length)
    vats = []
    for v in range(n_vats):
        sugar = 120 * np.exp(-t / rng.uniform(350, 600))
        co2 = np.gradient(-sugar) * 40
        temp = 14 + 2 * np.sin(2 * np.pi * t / 288 + v)
        acid = 3.4 + 0.001 * t + 0.05 * rng.standard_normal(length)
        foam = np.maximum(0, co2 - 3) + 0.1 * rng.standard_normal(length)
        level = 100 - 0.002 * t + 0.2 * rng.standard_normal(length)
        vats.append(np.stack([sugar, co2, temp, acid, foam, level], axis=1))
    vats = np.array(vats, dtype="float32")
    return (vats - vats.mean((0, 1))) / vats.std((0, 1))


def windows(vats, size, step):
    out = []
    for v in vats:
        w = np.lib.stride_tricks.sliding_window_view(v, size, axis=0)[::step]
        out.append(w.transpose(0, 2, 1))
    return np.ascontiguousarray(np.concatenate(out))


def build_model(timesteps):
    model = Sequential()
    model.add(Input((timesteps, n_features)))
    model.add(LSTM(64, return_sequences=True))
    model.add(LSTM(24, return_sequences=False))
    model.add(RepeatVector(timesteps))
    model.add(LSTM(24, return_sequences=True))
    model.add(LSTM(64, return_sequences=True))
    model.add(TimeDistributed(Dense(n_features)))
    model.compile(optimizer=tf.keras.optimizers.Adam(1e-3), loss="mse")
    return model


class RamUsage(tf.keras.callbacks.Callback):
    """RAM usage during fit() went up and up until the notebook froze."""

    def __init__(self):
        super().__init__()
        self.rss = []

    def on_train_batch_end(self, batch, logs=None):
        gc.collect()
        self.rss.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)

    def on_epoch_end(self, epoch, logs=None):
        print("   ram: %.0f MB" % (self.rss[-1] / 1024))


vats = make_vats()
data = windows(vats[:20], args.timesteps, 36)
holdout = windows(vats[20:], args.timesteps, 72)
np.random.shuffle(data)
data = data[: len(data) // args.batch_size * args.batch_size]
print("windows", data.shape, "holdout", holdout.shape)

model = build_model(args.timesteps)
model.summary(print_fn=lambda s, **k: None)
began = time.time()
history = model.fit(
    data,
    data,
    epochs=args.epochs,
    batch_size=args.batch_size,
    validation_data=(holdout, holdout),
    callbacks=[RamUsage(), tf.keras.callbacks.EarlyStopping(patience=5)],
    verbose=2,
)
err = np.mean((model.predict(holdout, batch_size=128, verbose=0) - holdout) ** 2, axis=(1, 2))
print("training took %.1f s" % (time.time() - began))
print("alarm threshold %.4f" % np.quantile(err, 0.98))
