"""Forecast stress in glass cooling in the annealing lehr from thermocouple series; low-memory workshop PC."""

import gc
import os
import tempfile
import time

import numpy as np
import keras
import tensorflow as tf
from keras import layers

CFG = dict(pieces=840, window=160, probes=8, batch=64, epochs=4, seed=31, lr=1.5e-3)


def cooling_curves(n, window, probes, rng):
    t = np.linspace(0, 1, window, dtype="float32")[None, :, None]
    rate = rng.uniform(0.5, 4.0, (n, 1, probes)).astype("float32")
    soak = rng.uniform(0.0, 0.3, (n, 1, 1)).astype("float32")
    temp = np.exp(-rate * np.maximum(t - soak, 0))
    temp = temp + rng.normal(0, 0.02, temp.shape).astype("float32")
    gradient = temp.max(-1) - temp.min(-1)
    stress = gradient.max(1) + 0.5 * gradient.mean(1)
    return temp.astype("float32"), stress[:, None].astype("float32")


def residual(x, width, dilation, drop):
    h = layers.Conv1D(width, 3, padding="causal", dilation_rate=dilation)(x)
    h = layers.LayerNormalization()(h)
    h = layers.Activation("swish")(h)
    h = layers.SpatialDropout1D(drop)(h)
    h = layers.Conv1D(width, 3, padding="causal", dilation_rate=dilation)(h)
    if x.shape[-1] != width:
        x = layers.Conv1D(width, 1)(x)
    return layers.Activation("swish")(layers.Add()([x, h]))


def lehr_net(window, probes):
    inp = keras.Input((window, probes), name="thermocouples")
    h = inp
    for d in (1, 2, 4, 8):
        h = residual(h, 48, d, 0.05)
    h = layers.Concatenate()([layers.GlobalAveragePooling1D()(h), layers.GlobalMaxPooling1D()(h)])
    h = layers.Dense(64, activation="swish")(h)
    return keras.Model(inp, layers.Dense(1, name="stress")(h))


class WorkshopMemory(keras.callbacks.Callback):
    """The PC in the hot shop has 8 GB only, keep the process small."""

    def __init__(self):
        super().__init__()
        self.freed = 0

    def tidy(self):
        self.freed += gc.collect()

    def on_train_batch_end(self, batch, logs=None):
        self.tidy()

    def on_epoch_end(self, epoch, logs=None):
        print(f"epoch {epoch + 1}: mse {logs['loss']:.4f} val {logs['val_loss']:.4f}")


class StressScale(keras.layers.Layer):
    def __init__(self, mean, std, **kw):
        super().__init__(**kw)
        self.mean, self.std = float(mean), float(std)

    def call(self, x):
        return x * self.std + self.mean


def pipeline(x, y, batch, shuffle):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).cache()
    if shuffle:
        ds = ds.shuffle(len(x), seed=CFG["seed"])
    return ds.batch(batch, drop_remainder=shuffle).prefetch(2)


def main():
    keras.utils.set_random_seed(CFG["seed"])
    rng = np.random.default_rng(CFG["seed"])
    x, y = cooling_curves(CFG["pieces"], CFG["window"], CFG["probes"], rng)
    cut = int(len(x) * 0.85)
    model = lehr_net(CFG["window"], CFG["probes"])
    scaled = keras.Model(model.input, StressScale(y.mean(), y.std())(model.output))
    steps = CFG["epochs"] * (cut // CFG["batch"])
    scaled.compile(
        optimizer=keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(CFG["lr"], steps)),
        loss="mse",
        metrics=["mae"],
    )
    out = tempfile.mkdtemp(prefix="lehr_")
    began = time.time()
    scaled.fit(
        pipeline(x[:cut], y[:cut], CFG["batch"], True),
        validation_data=pipeline(x[cut:], y[cut:], CFG["batch"], False),
        epochs=CFG["epochs"],
        verbose=0,
        callbacks=[WorkshopMemory(), keras.callbacks.CSVLogger(os.path.join(out, "lehr.csv"))],
    )
    print(f"training took {time.time() - began:.2f} s")


if __name__ == "__main__":
    main()
