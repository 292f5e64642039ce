"""Search for the pressing schedule model: three widths in turn, each with early stopping."""

import os
import tempfile
import time

import numpy as np
import tensorflow as tf

CANDIDATES = [
    {"width": 256, "depth": 3, "drop": 0.0},
    {"width": 640, "depth": 3, "drop": 0.1},
    {"width": 896, "depth": 4, "drop": 0.1},
]
FEATURES = 40
SEED = 2019


def clefts(n, rng):
    """Grain count, moisture, roller loads ... -> ping (rebound) of the finished blade."""
    x = rng.normal(size=(n, FEATURES)).astype("float32")
    w = np.random.default_rng(3).normal(size=(FEATURES, 5))
    z = x @ w / np.sqrt(FEATURES)
    ping = np.tanh(z[:, 0] * z[:, 1]) + 0.5 * np.sin(3 * z[:, 2]) + 0.2 * z[:, 3] ** 2
    return x, (ping + rng.normal(0, 0.1, n)).astype("float32")


def blade_model(width, depth, drop):
    inp = tf.keras.Input((FEATURES,))
    h = tf.keras.layers.Dense(width, activation="gelu")(inp)
    for _ in range(depth - 1):
        r = tf.keras.layers.Dense(width, activation="gelu")(h)
        if drop:
            r = tf.keras.layers.Dropout(drop)(r)
        h = tf.keras.layers.Add()([h, r])
    return tf.keras.Model(inp, tf.keras.layers.Dense(1)(h), name=f"blade_{width}x{depth}")


def endless(x, y, batch):
    x, y = tf.constant(x), tf.constant(y)
    rows = tf.data.Dataset.range(len(x)).shuffle(len(x), seed=SEED).repeat().batch(batch)
    return rows.map(lambda i: (tf.gather(x, i), tf.gather(y, i))).prefetch(2)


def run_one(spec, train, valid, folder):
    model = blade_model(**spec)
    model.compile(tf.keras.optimizers.Adam(1e-3), "mse", metrics=["mae"])
    history = model.fit(
        train,
        steps_per_epoch=18,
        validation_data=valid,
        validation_batch_size=1024,
        epochs=9,
        verbose=0,
        callbacks=[
            tf.keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True),
            tf.keras.callbacks.CSVLogger(os.path.join(folder, model.name + ".csv")),
        ],
    )
    n = len(history.history["loss"])
    best = min(history.history["val_mae"])
    print(f"{model.name}: {n} epochs, {model.count_params()} weights, val mae {best:.4f}")
    return best, model


def main():
    tf.keras.utils.set_random_seed(SEED)
    rng = np.random.default_rng(SEED)
    x, y = clefts(9216, rng)
    xv, yv = clefts(1024, rng)
    train = endless(x, y, 512)
    folder = tempfile.mkdtemp(prefix="willow_")
    t0 = time.time()
    results = []
    for spec in CANDIDATES:
        results.append(run_one(spec, train, (xv, yv), folder))
    best, model = min(results, key=lambda r: r[0])
    model.save(os.path.join(folder, "chosen.keras"))
    print("chosen", model.name, "ping of first three:", np.round(model(xv[:3]).numpy()[:, 0], 2))
    print(f"train_seconds {time.time() - t0:.2f}")


if __name__ == "__main__":
    main()
