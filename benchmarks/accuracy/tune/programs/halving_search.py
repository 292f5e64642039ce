"""Successive halving: six small models, the best third goes on three times as long."""

import itertools

import numpy as np
import tensorflow as tf


def wine(n=3600):
    rng = np.random.default_rng(55)
    x = rng.normal(size=(n, 40)).astype("float32")
    hidden = np.tanh(x @ rng.normal(size=(40, 12)) / 3)
    y = hidden @ rng.normal(size=12) + rng.normal(0, 0.2, n)
    return x, y.astype("float32")


def build(width, rate, dropout, depth=3):
    model = tf.keras.Sequential([tf.keras.Input((40,))])
    for _ in range(depth):
        model.add(tf.keras.layers.Dense(width, activation="relu"))
        if dropout:
            model.add(tf.keras.layers.Dropout(dropout))
    model.add(tf.keras.layers.Dense(1))
    model.compile(tf.keras.optimizers.Adam(rate), "mse", metrics=["mae"])
    return model


def train_on(model, epochs, data):
    (x, y), valid = data
    history = model.fit(x, y, epochs=epochs, batch_size=48, validation_data=valid, verbose=0)
    return min(history.history["val_mae"])


def main():
    tf.keras.utils.set_random_seed(1)
    x, y = wine()
    cut = 3000
    data = (x[:cut], y[:cut]), (x[cut:], y[cut:])
    trials = []
    for width, (rate, dropout) in itertools.product(
        (256, 384), ((1e-3, 0.0), (3e-4, 0.1), (3e-3, 0.2))
    ):
        trials.append((f"width {width} rate {rate}", build(width, rate, dropout)))
    epochs = 4
    while trials:
        scored = []
        for name, model in trials:
            error = train_on(model, epochs, data)
            scored.append((error, name, model))
            print(f"{epochs:3d} epochs: {error:.4f} {name}", flush=True)
        scored.sort(key=lambda trial: trial[0])
        if len(trials) == 1:
            break
        trials = [(name, model) for _, name, model in scored[: max(1, len(trials) // 3)]]
        epochs *= 3
    print("best:", scored[0][:2])


if __name__ == "__main__":
    main()
