"""Day-ahead electricity load: mixture density network on a dilated causal CNN."""

import math, os, tempfile

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
import numpy as np
import tensorflow as tf
import keras
from keras import layers

keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
HOURS, CONTEXT, MIX = 24 * 365 * 2, 168, 4

t = np.arange(HOURS)
temp = (
    12
    + 10 * np.sin(2 * np.pi * t / 8760)
    + 4 * np.sin(2 * np.pi * t / 24)
    + np.cumsum(rng.normal(0, 0.05, HOURS))
)
load = (
    50
    + 12 * np.sin(2 * np.pi * (t - 7) / 24)
    + 5 * ((t // 24) % 7 < 5)
    + 0.1 * (temp - 16) ** 2
    + rng.normal(0, 2, HOURS) * (1 + ((t % 24) > 17))
)
series = np.stack(
    [
        (load - load.mean()) / load.std(),
        (temp - temp.mean()) / temp.std(),
        np.sin(2 * np.pi * t / 24),
        np.cos(2 * np.pi * t / 24),
        (t // 24) % 7 / 6.0,
    ],
    1,
).astype("float32")


class Windows(keras.utils.PyDataset):
    def __init__(self, series, first, last, batch, shuffle):
        super().__init__(workers=1)
        self.series, self.batch, self.shuffle = series, batch, shuffle
        self.view = np.lib.stride_tricks.sliding_window_view(series, CONTEXT, axis=0)
        self.starts = np.arange(first, last - CONTEXT - 24, 3)
        self.on_epoch_end()

    def __len__(self):
        return len(self.starts) // self.batch

    def __getitem__(self, i):
        s = self.starts[i * self.batch : (i + 1) * self.batch]
        x = self.view[s].transpose(0, 2, 1)
        y = self.series[s + CONTEXT + 23, 0]
        return np.ascontiguousarray(x), y[:, None]

    def on_epoch_end(self):
        if self.shuffle:
            rng.shuffle(self.starts)


split = int(HOURS * 0.85)
train = Windows(series, 0, split, 64, True)
val = Windows(series, split, HOURS, 64, False)


def mdn_nll(y, p):
    logit, mu, ls = tf.split(p, 3, axis=-1)
    ls = tf.clip_by_value(ls, -5.0, 3.0)
    comp = -0.5 * ((y - mu) / tf.exp(ls)) ** 2 - ls - 0.5 * math.log(2 * math.pi)
    return -tf.reduce_logsumexp(tf.nn.log_softmax(logit) + comp, axis=-1)


inp = keras.Input((CONTEXT, series.shape[1]))
x = layers.Dense(48)(inp)
for d in (1, 2, 4, 8, 16):
    h = layers.Conv1D(48, 3, padding="causal", dilation_rate=d, activation="relu")(x)
    h = layers.SpatialDropout1D(0.05)(h)
    x = layers.Add()([x, layers.Dense(48)(h)])
x = layers.Concatenate()([layers.GlobalAveragePooling1D()(x), layers.Lambda(lambda z: z[:, -1])(x)])
x = layers.Dense(64, activation="relu")(x)
out = layers.Dense(3 * MIX)(x)
model = keras.Model(inp, out)
model.compile(keras.optimizers.Adam(1e-3), mdn_nll, jit_compile=False)

with tempfile.TemporaryDirectory() as tmp:
    model.fit(
        train,
        validation_data=val,
        epochs=6,
        verbose=2,
        callbacks=[
            keras.callbacks.ReduceLROnPlateau(patience=1, factor=0.5, verbose=1),
            keras.callbacks.EarlyStopping(patience=5, restore_best_weights=True),
            keras.callbacks.ModelCheckpoint(os.path.join(tmp, "best.keras"), save_best_only=True),
            keras.callbacks.CSVLogger(os.path.join(tmp, "log.csv")),
        ],
    )
