"""Threefold cross validation with a new model for each fold."""

import numpy as np
import tensorflow as tf


def build():
    model = tf.keras.Sequential()
    model.add(tf.keras.Input(shape=(80,)))
    model.add(tf.keras.layers.Dense(320, activation="elu"))
    model.add(tf.keras.layers.Dense(320, activation="elu"))
    model.add(tf.keras.layers.Dense(1))
    model.compile(optimizer="adam", loss="mae")
    return model


rng = np.random.default_rng(21)
X = rng.normal(size=(9000, 80)).astype("float32")
Y = np.tanh(X[:, 0]) + X[:, 1] * X[:, 2]
order = rng.permutation(len(X))
scores = []
for fold, held in enumerate(np.array_split(order, 3)):
    rest = np.setdiff1d(order, held)
    tf.keras.backend.clear_session()
    model = build()
    model.fit(X[rest], Y[rest], batch_size=32, epochs=9, verbose=0)
    scores.append(model.evaluate(X[held], Y[held], batch_size=500, verbose=0))
    print("fold", fold, "mae", scores[-1])
print(np.mean(scores), "+-", np.std(scores))
