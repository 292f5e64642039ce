"""Random search over a few small networks for customer churn, then a final fit."""

import keras
import numpy as np
from keras import layers, ops

WEEKS, SIGNALS, PROFILE = 26, 6, 10
TRIALS = 3


def synth_customers(n, seed):
    rng = np.random.default_rng(seed)
    profile = rng.normal(size=(n, PROFILE))
    trend = 0.6 * rng.normal(size=(n, 1, SIGNALS))
    ramp = np.linspace(-1, 1, WEEKS)[None, :, None]
    usage = trend * ramp + 0.7 * rng.normal(size=(n, WEEKS, SIGNALS))
    usage = np.concatenate([usage, np.broadcast_to(ramp, (n, WEEKS, 1))], axis=2)
    risk = -1.6 * trend[:, 0, 0] - trend[:, 0, 1] + 0.7 * profile[:, 0] * profile[:, 1]
    churn = (rng.uniform(size=n) < 1 / (1 + np.exp(-2 * risk + 2.5))).astype("float32")
    return usage.astype("float32"), profile.astype("float32"), churn


class BalancedBatches(keras.utils.PyDataset):
    """Half of each batch are churners, drawn anew at each epoch."""

    def __init__(self, usage, profile, churn, batch, seed=0, **kwargs):
        super().__init__(**kwargs)
        self.arrays = usage, profile, churn
        self.batch = batch
        self.rng = np.random.default_rng(seed)
        self.yes, self.no = np.flatnonzero(churn == 1), np.flatnonzero(churn == 0)
        self.on_epoch_end()

    def __len__(self):
        return len(self.arrays[2]) // self.batch

    def on_epoch_end(self):
        half = len(self) * self.batch // 2
        self.rows = np.stack(
            [self.rng.choice(self.yes, half), self.rng.choice(self.no, half)], 1
        ).ravel()

    def __getitem__(self, index):
        rows = self.rows[index * self.batch : (index + 1) * self.batch]
        usage, profile, churn = (a[rows] for a in self.arrays)
        return {"usage": usage, "profile": profile}, churn


class AttentionPool(layers.Layer):
    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.key = layers.Dense(units, activation="tanh")
        self.score = layers.Dense(1, use_bias=False)

    def call(self, x):
        w = ops.softmax(self.score(self.key(x)), axis=1)
        return ops.sum(w * x, axis=1)


def build(hp):
    usage = keras.Input((WEEKS, SIGNALS + 1), name="usage")
    profile = keras.Input((PROFILE,), name="profile")
    if hp["sequence"] == "gru":
        h = layers.GRU(hp["units"])(usage)
    elif hp["sequence"] == "conv":
        h = layers.Conv1D(hp["units"], 5, padding="same", activation="relu")(usage)
        h = layers.Conv1D(hp["units"], 3, padding="same", activation="relu")(h)
        h = AttentionPool(hp["units"])(h)
    else:
        h = layers.Dense(hp["units"])(usage)
        h = h + layers.MultiHeadAttention(2, hp["units"] // 2)(h, h)
        h = AttentionPool(hp["units"])(layers.LayerNormalization()(h))
    x = layers.Concatenate()([h, layers.Dense(hp["units"], activation="relu")(profile)])
    for _ in range(hp["depth"]):
        x = layers.Dense(64, activation="relu")(x)
        x = layers.Dropout(hp["dropout"])(x)
    model = keras.Model(
        {"usage": usage, "profile": profile}, layers.Dense(1, activation="sigmoid")(x)
    )
    model.compile(
        keras.optimizers.Adam(hp["lr"]),
        "binary_crossentropy",
        metrics=[keras.metrics.AUC(name="auc", num_thresholds=100)],
    )
    return model


def draw(rng, trial):
    return {
        "sequence": ("conv", "gru", "attention")[trial % 3],
        "units": int(rng.choice([16, 32])),
        "depth": int(rng.integers(1, 3)),
        "dropout": float(np.round(rng.uniform(0.0, 0.3), 2)),
        "lr": float(np.round(10 ** rng.uniform(-3, -2.3), 5)),
    }


def fit(hp, data, val, epochs, verbose=0):
    model = build(hp)
    stop = keras.callbacks.EarlyStopping(
        "val_auc", mode="max", patience=2, restore_best_weights=True
    )
    history = model.fit(data, validation_data=val, epochs=epochs, callbacks=[stop], verbose=verbose)
    return model, history.history


def main():
    rng = np.random.default_rng(12)
    keras.utils.set_random_seed(12)
    train, val, test = (synth_customers(n, s) for n, s in ((8000, 1), (2000, 2), (2000, 3)))
    as_input = lambda part: ({"usage": part[0], "profile": part[1]}, part[2])
    print("churn rate", train[2].mean().round(3))

    results = []
    for trial in range(TRIALS):
        keras.backend.clear_session()
        hp = draw(rng, trial)
        _, hist = fit(hp, BalancedBatches(*train, batch=128, seed=trial), as_input(val), epochs=4)
        results.append((max(hist["val_auc"]), trial, hp))
        print(
            f"trial {trial}: loss {hist['loss'][0]:.3f} -> {hist['loss'][-1]:.3f}"
            f"  best val AUC {results[-1][0]:.4f}  {hp}",
            flush=True,
        )

    _, trial, hp = max(results)
    print("final fit with the settings of trial", trial)
    keras.backend.clear_session()
    model, _ = fit(
        hp, BalancedBatches(*train, batch=128, seed=50), as_input(val), epochs=8, verbose=2
    )
    print(
        "test",
        {
            k: round(float(v), 4)
            for k, v in model.evaluate(
                *as_input(test), batch_size=1000, verbose=0, return_dict=True
            ).items()
        },
    )


if __name__ == "__main__":
    main()
