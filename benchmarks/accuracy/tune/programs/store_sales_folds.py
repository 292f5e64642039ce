# Store sales: entity embeddings, 4 folds, out-of-fold blending (competition script)
import gc
import os
import tempfile
import time

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers
import tensorflow as tf

N_ROWS = 60_000
N_STORES, N_ITEMS, N_PROMO = 54, 900, 5
N_NUMERIC = 24
N_FOLDS = 4
EPOCHS = 3
BATCH = 1024
OUT = tempfile.mkdtemp(prefix="sales_")


def make_table(seed=2024):
    rng = np.random.default_rng(seed)
    store = rng.integers(0, N_STORES, N_ROWS)
    item = rng.zipf(1.3, N_ROWS) % N_ITEMS
    promo = rng.integers(0, N_PROMO, N_ROWS)
    dow = rng.integers(0, 7, N_ROWS)
    numeric = rng.normal(size=(N_ROWS, N_NUMERIC)).astype("float32")
    level = rng.normal(2, 0.5, N_STORES)[store] + rng.normal(0, 0.8, N_ITEMS)[item]
    season = 0.3 * np.sin(2 * np.pi * dow / 7) + 0.25 * promo
    inter = 0.3 * numeric[:, 0] * numeric[:, 1] + 0.2 * np.tanh(numeric[:, 2])
    y = np.log1p(np.exp(level + season + inter + rng.normal(0, 0.2, N_ROWS)))
    cats = np.stack([store, item, promo, dow], 1).astype("int32")
    return cats, numeric, y.astype("float32")


def kfold(n, k, seed=7):
    order = np.random.default_rng(seed).permutation(n)
    parts = np.array_split(order, k)
    for i in range(k):
        yield np.concatenate(parts[:i] + parts[i + 1 :]), parts[i]


def dataset(cats, numeric, y, training):
    inputs = {
        "store": cats[:, 0],
        "item": cats[:, 1],
        "promo": cats[:, 2],
        "dow": cats[:, 3],
        "numeric": numeric,
    }
    ds = tf.data.Dataset.from_tensor_slices((inputs, y))
    if training:
        ds = ds.shuffle(20_000)
    return ds.batch(BATCH, drop_remainder=training, num_parallel_calls=2).prefetch(2)


def build(lr):
    sizes = {"store": (N_STORES, 16), "item": (N_ITEMS, 32), "promo": (N_PROMO, 4), "dow": (7, 4)}
    ins, parts = {}, []
    for name, (n, d) in sizes.items():
        ins[name] = keras.Input((), name=name, dtype="int32")
        parts.append(layers.Embedding(n, d)(ins[name]))
    ins["numeric"] = keras.Input((N_NUMERIC,), name="numeric")
    parts.append(layers.BatchNormalization()(ins["numeric"]))
    x = layers.Concatenate()(parts)
    for units in (512, 512, 256):
        skip = layers.Dense(units, use_bias=False)(x)
        x = layers.Dense(units, activation="swish")(x)
        x = layers.Dropout(0.1)(x)
        x = layers.LayerNormalization()(layers.add([x, skip]))
    out = layers.Dense(1)(x)
    model = keras.Model(ins, out)
    model.compile(
        optimizer=keras.optimizers.Adam(lr),
        loss="mse",
        metrics=[keras.metrics.RootMeanSquaredError(name="rmse")],
    )
    return model


cats, numeric, y = make_table()
oof = np.zeros(N_ROWS, "float32")
scores = []
t0 = time.time()

for fold, (tr, va) in enumerate(kfold(N_ROWS, N_FOLDS)):
    keras.backend.clear_session()
    gc.collect()
    keras.utils.set_random_seed(100 + fold)
    train_ds = dataset(cats[tr], numeric[tr], y[tr], True)
    valid_ds = dataset(cats[va], numeric[va], y[va], False)
    model = build(lr=[2e-3, 1e-3][fold % 2])
    path = os.path.join(OUT, f"fold{fold}.weights.h5")
    history = model.fit(
        train_ds,
        validation_data=valid_ds,
        epochs=EPOCHS,
        verbose=0,
        callbacks=[
            keras.callbacks.ModelCheckpoint(
                path, monitor="val_rmse", mode="min", save_best_only=True, save_weights_only=True
            ),
            keras.callbacks.ReduceLROnPlateau(monitor="val_loss", patience=1, factor=0.4),
        ],
    )
    model.load_weights(path)
    oof[va] = model.predict(valid_ds, verbose=0)[:, 0]
    rmse = float(np.sqrt(np.mean((oof[va] - y[va]) ** 2)))
    scores.append(rmse)
    print(
        "fold %d  rmse %.4f  best epoch %d  elapsed %.1f s"
        % (fold, rmse, int(np.argmin(history.history["val_rmse"])), time.time() - t0)
    )
    del model, train_ds, valid_ds

print("cv %.4f +- %.4f" % (np.mean(scores), np.std(scores)))
print("oof rmse %.4f" % np.sqrt(np.mean((oof - y) ** 2)))
print("training took %.1f s" % (time.time() - t0))
