"""Random search over a few networks for concrete strength; the best one is trained longer."""

import itertools
import json
import random

import numpy as np
import tensorflow as tf

SPACE = {
    "units": [32, 64, 128],
    "depth": [1, 2, 3],
    "rate": [3e-3, 1e-3, 3e-4],
    "activation": ["relu", "elu", "tanh"],
}


def concrete(n=2400):
    rng = np.random.default_rng(17)
    x = rng.random((n, 8)).astype("float32")
    y = 40 * x[:, 0] / (0.3 + x[:, 3]) + 8 * np.log1p(20 * x[:, 7]) + rng.normal(0, 1, n)
    return x, ((y - y.mean()) / y.std()).astype("float32")


def build(config):
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.Input((8,))])
    for _ in range(config["depth"]):
        model.add(tf.keras.layers.Dense(config["units"], activation=config["activation"]))
    model.add(tf.keras.layers.Dense(1))
    model.compile(tf.keras.optimizers.Adam(config["rate"]), "mse", metrics=["mae"])
    return model


def draw(tried):
    while True:
        config = {name: random.choice(values) for name, values in SPACE.items()}
        key = tuple(config.values())
        if key not in tried:
            tried.add(key)
            return config


random.seed(23)
x, y = concrete()
train, valid = (x[:2000], y[:2000]), (x[2000:], y[2000:])
tried, results = set(), []
assert len(list(itertools.product(*SPACE.values()))) == 81
for trial in range(4):
    config = draw(tried)
    history = build(config).fit(*train, validation_data=valid, epochs=4, batch_size=20, verbose=0)
    results.append((min(history.history["val_loss"]), config))
    print(f"trial {trial}: {results[-1][0]:.4f} {json.dumps(config)}")

score, best = min(results, key=lambda r: r[0])
final = build(best)
final.fit(*train, validation_data=valid, epochs=12, batch_size=20, verbose=0)
print("best", best, "final", final.evaluate(*valid, verbose=0))
