"""Gestures from a wrist band: functional model, validation, plateau, early stopping, CSV log."""

import numpy as np
import tensorflow as tf
from tensorflow.keras import Input, Model, callbacks, layers

GESTURES = ["tap", "swipe", "circle", "shake", "rest"]


def wrist(n, steps=96, seed=30):
    rng = np.random.default_rng(seed)
    t = np.linspace(0, 6, steps)
    y = rng.integers(0, len(GESTURES), n)
    phase = rng.uniform(0, 6, (n, 1, 1))
    axes = np.arange(6)[None, None, :]
    x = np.sin(t[None, :, None] * (1 + y[:, None, None]) + phase + axes)
    angle = (x + rng.normal(0, 1.2, x.shape)).astype("float32")
    pulse = rng.normal(70, 8, (n, 4)).astype("float32") / 100
    return {"motion": angle, "pulse": pulse}, y


def build():
    motion = Input((96, 6), name="motion")
    pulse = Input((4,), name="pulse")
    a = layers.SeparableConv1D(48, 7, activation="relu")(motion)
    a = layers.MaxPooling1D()(a)
    a = layers.SeparableConv1D(96, 5, activation="relu")(a)
    a = layers.Bidirectional(layers.LSTM(48))(a)
    b = layers.Dense(8, activation="relu")(pulse)
    both = layers.Dropout(0.3)(layers.concatenate([a, b]))
    return Model([motion, pulse], layers.Dense(len(GESTURES), activation="softmax")(both))


x, y = wrist(2400)
x_test, y_test = wrist(480, seed=31)
model = build()
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.summary()
history = model.fit(
    x,
    y,
    batch_size=32,
    epochs=12,
    validation_data=(x_test, y_test),
    callbacks=[
        callbacks.ReduceLROnPlateau(monitor="val_loss", factor=0.5, patience=2, verbose=1),
        callbacks.EarlyStopping(monitor="val_loss", patience=6, restore_best_weights=True),
        callbacks.CSVLogger("gestures.csv"),
        callbacks.TerminateOnNaN(),
    ],
    verbose=2,
)
loss, accuracy = model.evaluate(x_test, y_test, verbose=0)
print(f"{len(history.epoch)} epochs, test accuracy {accuracy:.3f}")
tf.keras.backend.clear_session()
