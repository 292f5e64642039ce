"""Search for a network that predicts the hardness of alloys.

Every candidate is judged by three-fold cross-validation; the candidates run
from small to large.
"""

import gc
import time

import keras
import numpy as np
import tensorflow as tf
from keras import layers

FOLDS = 3
CANDIDATES = [
    {"width": 128, "depth": 3, "drop": 0.1, "rate": 2e-3},
    {"width": 256, "depth": 3, "drop": 0.1, "rate": 1e-3},
    {"width": 384, "depth": 4, "drop": 0.2, "rate": 1e-3},
]
EPOCHS = 5
BATCH = 100


def make_alloys(count=5000, elements=28, seed=41):
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(elements, 0.35), size=count)
    radius = rng.uniform(1.1, 1.9, size=elements)
    bond = rng.normal(size=(elements, elements))
    bond = bond + bond.T
    mean = share @ radius
    misfit = np.sqrt(share @ radius**2 - mean**2 + 1e-9)
    mixing = np.einsum("ni,ij,nj->n", share, bond, share)
    quench = rng.uniform(0, 1, size=count)
    hard = 8 * misfit + mixing + np.sin(6 * quench) * misfit * 4
    hard += rng.normal(size=count) * 0.05
    x = np.concatenate([share, np.log(share + 1e-3), quench[:, None]], axis=1)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    y = (hard - hard.mean()) / hard.std()
    return x.astype(np.float32), y.astype(np.float32)


def build(inputs, width, depth, drop, rate):
    start = keras.Input((inputs,))
    x = layers.Dense(width)(start)
    for _ in range(depth):
        r = layers.LayerNormalization()(x)
        r = layers.Dense(width, activation="gelu")(r)
        r = layers.Dropout(drop)(r)
        r = layers.Dense(width)(r)
        x = layers.add([x, r])
    out = layers.Dense(1)(layers.LayerNormalization()(x))
    model = keras.Model(start, out)
    model.compile(
        optimizer=keras.optimizers.Adam(rate), loss="huber", metrics=["mae"], jit_compile=False
    )
    return model


def judge(x, y, choice, seed):
    """Mean and spread of the validation error over the folds."""
    order = np.random.default_rng(seed).permutation(len(x))
    parts = np.array_split(order, FOLDS)
    scores = []
    for fold in range(FOLDS):
        keras.backend.clear_session()
        gc.collect()
        keras.utils.set_random_seed(seed + fold)
        held = parts[fold]
        rest = np.concatenate([p for i, p in enumerate(parts) if i != fold])
        model = build(x.shape[1], **choice)
        train = (
            tf.data.Dataset.from_tensor_slices((x[rest], y[rest]))
            .shuffle(len(rest))
            .batch(BATCH, drop_remainder=True)
            .prefetch(tf.data.AUTOTUNE)
        )
        valid = (
            tf.data.Dataset.from_tensor_slices((x[held], y[held]))
            .batch(500)
            .prefetch(tf.data.AUTOTUNE)
        )
        past = model.fit(
            train,
            validation_data=valid,
            epochs=EPOCHS,
            verbose=0,
            callbacks=[keras.callbacks.ReduceLROnPlateau("val_loss", factor=0.5, patience=3)],
        )
        scores.append(min(past.history["val_mae"]))
    return float(np.mean(scores)), float(np.std(scores))


def main():
    x, y = make_alloys()
    began = time.time()
    table = []
    for number, choice in enumerate(CANDIDATES):
        mean, spread = judge(x, y, choice, seed=50)
        table.append((mean, number))
        print(
            f"candidate {number}  {choice}  mae {mean:.4f} "
            f"+- {spread:.4f}  {time.time() - began:.1f}s",
            flush=True,
        )
    best = CANDIDATES[min(table)[1]]
    print("best:", best)


if __name__ == "__main__":
    main()
