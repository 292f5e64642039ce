"""Which stretches of dry stone wall will collapse within five winters?

Synthetic survey: slope, batter, course height, drainage, frost days, ...
A plain MLP with class weights; the county wants the Gini coefficient on the
hold-out parishes after every epoch, and the best weights by it.
"""

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
rng = np.random.default_rng(31)

FEATURES = 28
N_TRAIN = 45_000
N_HOLD = 75_000


def survey(n):
    x = rng.normal(size=(n, FEATURES)).astype("float32")
    x[:, 3] = np.abs(x[:, 3])
    x[:, 7] = (x[:, 7] > 0.8).astype("float32")
    risk = (
        0.8 * x[:, 0] * x[:, 3]
        - 0.6 * np.tanh(x[:, 1] + x[:, 2])
        + 0.9 * x[:, 7] * np.sin(2 * x[:, 4])
        + 0.3 * x[:, 5] ** 2
        - 2.6
    )
    y = rng.random(n) < 1 / (1 + np.exp(-risk))
    return x, y.astype("float32")


def gini(y, p):
    order = np.argsort(p, kind="stable")
    y = y[order]
    cum = np.cumsum(y) / y.sum()
    return 1.0 - 2.0 * np.trapezoid(cum, dx=1.0 / len(y))


class ParishGini(keras.callbacks.Callback):
    def __init__(self, x, y):
        super().__init__()
        self.x = x
        self.y = y
        self.best = -1.0
        self.best_weights = None

    def on_epoch_end(self, epoch, logs=None):
        p = self.model.predict(self.x, verbose=0).ravel()
        score = gini(self.y, p)
        if logs is not None:
            logs["hold_gini"] = score
        if score > self.best:
            self.best = score
            self.best_weights = self.model.get_weights()

    def on_train_end(self, logs=None):
        self.model.set_weights(self.best_weights)


def make_model():
    inp = keras.Input((FEATURES,))
    x = layers.BatchNormalization()(inp)
    for width in (320, 320, 160):
        x = layers.Dense(width, kernel_initializer="he_normal")(x)
        x = layers.LayerNormalization()(x)
        x = layers.Activation("relu")(x)
        x = layers.Dropout(0.15)(x)
    out = layers.Dense(1, activation="sigmoid")(x)
    return keras.Model(inp, out)


x_train, y_train = survey(N_TRAIN)
x_hold, y_hold = survey(N_HOLD)

model = make_model()
model.compile(
    optimizer=keras.optimizers.AdamW(1.5e-3, weight_decay=1e-4),
    loss="binary_crossentropy",
)
weight = float((1 - y_train.mean()) / y_train.mean())
watch = ParishGini(x_hold, y_hold)

history = model.fit(
    x_train,
    y_train,
    batch_size=1500,
    epochs=8,
    class_weight={0: 1.0, 1: weight},
    callbacks=[
        watch,
        keras.callbacks.ReduceLROnPlateau(monitor="loss", factor=0.5, patience=2),
    ],
    verbose=2,
)
print("best Gini on the hold-out parishes:", round(watch.best, 4))
