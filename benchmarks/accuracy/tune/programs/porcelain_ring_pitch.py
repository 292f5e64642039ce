"""How many hidden units does the porcelain ring test need? Trains the same net with ever more units.
It gets slower and slower with each model in the loop, although I clear the session."""

import gc
import os
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras

n_samples = 24000
n_features = 160
n_targets = 5
batch_size = 400
sizes = (512, 1024, 1536)
epochs = 3


def rings():
    rng = np.random.default_rng(8)
    f0 = rng.uniform(0.02, 0.2, (n_samples, 1)).astype(np.float32)
    damp = rng.uniform(0.005, 0.04, (n_samples, 1)).astype(np.float32)
    crack = rng.integers(0, 2, (n_samples, 1)).astype(np.float32)
    t = np.arange(n_features, dtype=np.float32)[None]
    x = np.exp(-damp * (1 + crack) * t) * np.sin(2 * np.pi * f0 * t)
    x += crack * 0.3 * np.sin(2 * np.pi * 1.07 * f0 * t)
    x += 0.05 * rng.standard_normal(x.shape, dtype=np.float32)
    y = np.concatenate([f0 * 10, damp * 50, crack, f0 * damp * 300, crack * damp * 30], 1)
    return x.astype(np.float32), y.astype(np.float32)


def get_model(units):
    inp = keras.Input((n_features,))
    h = keras.layers.Dense(units, activation="tanh")(inp)
    h = keras.layers.Dense(units, activation="tanh")(h)
    h = keras.layers.Dense(units // 2, activation="relu")(h)
    out = keras.layers.Dense(n_targets)(h)
    model = keras.Model(inp, out, name=f"ring_{units}")
    model.compile(optimizer=keras.optimizers.Adam(5e-4), loss="mse")
    return model


def main():
    x, y = rings()
    cut = n_samples * 9 // 10
    dataset = (
        tf.data.Dataset.from_tensor_slices((x[:cut], y[:cut]))
        .batch(batch_size)
        .cache()
        .shuffle(64, seed=1)
        .prefetch(tf.data.AUTOTUNE)
    )
    valid = (x[cut:], y[cut:])
    table = {}
    for t_idx, units in enumerate(sizes):
        keras.backend.clear_session()
        gc.collect()
        keras.utils.set_random_seed(100 + t_idx)
        model = get_model(units)
        stop = keras.callbacks.EarlyStopping(patience=3, restore_best_weights=True)
        began = time.perf_counter()
        h = model.fit(
            dataset,
            epochs=epochs,
            validation_data=valid,
            validation_batch_size=1200,
            callbacks=[stop],
            verbose=0,
        )
        took = time.perf_counter() - began
        table[units] = min(h.history["val_loss"])
        print(
            f"model {t_idx}  units {units:5d}  params {model.count_params():8d}  "
            f"val {table[units]:.5f}  {took:.1f} s  ({len(h.history['loss'])} epochs)"
        )
        del model
    best = min(table, key=table.get)
    print("best number of units:", best)


if __name__ == "__main__":
    main()
