"""Kelp cover from temperature, swell and light; two nets, each until it gets no better."""

import numpy as np
from keras import Input, Model, callbacks, layers, optimizers, utils

utils.set_random_seed(3)
WEEKS, CHANNELS = 104, 8


def coast(sites):
    rng = np.random.default_rng(sites)
    t = np.arange(WEEKS)
    warm = np.sin(2 * np.pi * t / 52) + rng.normal(0, 0.3, (sites, WEEKS))
    swell = np.abs(rng.normal(0, 1, (sites, WEEKS))) + np.maximum(-warm, 0)
    other = rng.normal(0, 1, (sites, WEEKS, CHANNELS - 2))
    x = np.concatenate([warm[..., None], swell[..., None], other], -1)
    stress = np.maximum(warm - 0.8, 0).sum(1) + 0.3 * np.maximum(swell - 1.5, 0).sum(1)
    y = 10 - 0.5 * stress + other[:, -20:, 0].mean(1) + rng.normal(0, 0.3, sites)
    return x.astype("float32"), ((y - y.mean()) / y.std()).astype("float32")


def convolutional():
    inputs = Input((WEEKS, CHANNELS))
    x = inputs
    for filters in (48, 64, 96):
        x = layers.Conv1D(filters, 7, padding="same", activation="relu")(x)
        x = layers.AveragePooling1D(2)(x)
    x = layers.Dropout(0.1)(layers.GlobalAveragePooling1D()(x))
    return Model(inputs, layers.Dense(1)(x), name="convolutional")


def mixer():
    inputs = Input((WEEKS, CHANNELS))
    x = layers.Dense(96)(inputs)
    for _ in range(3):
        y = layers.Permute((2, 1))(layers.LayerNormalization()(x))
        y = layers.Dense(WEEKS)(layers.Dense(128, activation="gelu")(y))
        x = layers.add([x, layers.Permute((2, 1))(y)])
        x = layers.add([x, layers.Dense(96, activation="gelu")(x)])
    x = layers.GlobalAveragePooling1D()(x)
    return Model(inputs, layers.Dense(1)(x), name="mixer")


x, y = coast(2500)
x_valid, y_valid = coast(260)
best = {}
for build in (convolutional, mixer):
    model = build()
    model.compile(optimizers.Adam(1.5e-3), "mse")
    history = model.fit(
        x,
        y,
        batch_size=64,
        epochs=9,
        validation_data=(x_valid, y_valid),
        callbacks=[
            callbacks.EarlyStopping(patience=3, restore_best_weights=True),
            callbacks.ReduceLROnPlateau(factor=0.5, patience=1, verbose=1),
            callbacks.TerminateOnNaN(),
        ],
        verbose=2,
    )
    best[model.name] = min(history.history["val_loss"])
    print(f"{model.name}: {len(history.epoch)} epochs, {best[model.name]:.3f}")
print("take the", min(best, key=best.get))
