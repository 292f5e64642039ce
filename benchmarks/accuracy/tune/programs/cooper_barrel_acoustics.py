"""Estimate stave tightness from the knock sound of a barrel; Keras functional model."""

import numpy as np
import keras
from keras import layers, ops

SR = 512
EPOCHS = 14
FLAT_FROM = 5


def knocks(n, rng):
    t = np.arange(SR) / SR
    tight = rng.uniform(0, 1, n)
    humid = rng.uniform(0.3, 0.9, n)
    f0 = 20 + 70 * tight - 15 * humid
    decay = 5 + 12 * (1 - tight)
    wave = np.exp(-decay[:, None] * t) * (
        np.sin(2 * np.pi * f0[:, None] * t) + 0.4 * np.sin(2 * np.pi * 2.7 * f0[:, None] * t)
    )
    wave += rng.normal(0, 0.2, wave.shape)
    return (
        wave[..., None].astype("float32"),
        humid[:, None].astype("float32"),
        tight[:, None].astype("float32"),
    )


class FlatMinimum(keras.callbacks.Callback):
    """Averages the weights seen after `start`, and reports how far the iterate strays from them."""

    def __init__(self, start, every=2):
        super().__init__()
        self.start = start
        self.every = every
        self.seen = []
        self.average = None
        self.active = False

    def on_epoch_begin(self, epoch, logs=None):
        self.active = epoch >= self.start

    def on_train_batch_end(self, batch, logs=None):
        if not self.active:
            return
        self.seen.append(self.model.get_weights())
        if len(self.seen) % self.every == 0:
            self.average = [np.mean(layer, axis=0) for layer in zip(*self.seen)]

    def on_epoch_end(self, epoch, logs=None):
        if self.average is None:
            return
        gap = sum(
            float(np.sum((a - w) ** 2)) for a, w in zip(self.average, self.model.get_weights())
        )
        logs["stray"] = gap**0.5

    def on_train_end(self, logs=None):
        if self.average is not None:
            self.model.set_weights(self.average)


def residual(x, filters, width):
    y = layers.Conv1D(filters, width, padding="same", activation="relu")(x)
    y = layers.Conv1D(filters, width, padding="same")(y)
    if x.shape[-1] != filters:
        x = layers.Conv1D(filters, 1)(x)
    return layers.Activation("relu")(layers.Add()([x, y]))


def build():
    wave = keras.Input((SR, 1))
    humid = keras.Input((1,))
    x = layers.Conv1D(24, 16, strides=4, padding="same", activation="relu")(wave)
    x = residual(x, 32, 5)
    x = layers.MaxPooling1D(2)(x)
    x = residual(x, 64, 5)
    x = layers.MaxPooling1D(2)(x)
    x = residual(x, 64, 3)
    x = layers.Flatten()(layers.MaxPooling1D(4)(x))
    x = layers.Concatenate()([x, humid])
    x = layers.Dense(192, activation="relu")(x)
    out = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model([wave, humid], out)


def within(y_true, y_pred):
    return ops.mean(ops.cast(ops.abs(y_true - y_pred) < 0.05, "float32"))


if __name__ == "__main__":
    keras.utils.set_random_seed(33)
    rng = np.random.default_rng(6)
    w, h, y = knocks(3840, rng)
    wv, hv, yv = knocks(512, rng)
    net = build()
    net.compile(
        keras.optimizers.SGD(0.05, momentum=0.9, nesterov=True), loss="mse", metrics=[within]
    )
    print("parameters:", net.count_params())
    flat = FlatMinimum(start=FLAT_FROM)
    hist = net.fit(
        [w, h],
        y,
        batch_size=64,
        epochs=EPOCHS,
        verbose=2,
        validation_data=([wv, hv], yv),
        callbacks=[flat],
    )
    mse, ok = net.evaluate([wv, hv], yv, verbose=0)
    print(
        f"averaged weights: mse {mse:.5f}, within 5% {ok:.3f}, stray {hist.history['stray'][-1]:.3f}"
    )
