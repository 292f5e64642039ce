# Day-ahead electricity load forecasting: small transformer encoder, two settings compared
# on the same split, best one reported.

import numpy as np
import keras
from keras import layers

keras.utils.set_random_seed(31)
keras.backend.set_floatx("float64")

HISTORY = 96
HORIZON = 24
N_FEATURES = 6
HOURS = 24 * 365


def make_series():
    rng = np.random.default_rng(31)
    t = np.arange(HOURS)
    daily = np.sin(2 * np.pi * t / 24 - 1.2) + 0.4 * np.sin(4 * np.pi * t / 24)
    weekly = np.where((t // 24) % 7 < 5, 0.5, -0.6)
    yearly = 0.8 * np.cos(2 * np.pi * t / HOURS)
    temp = 12 - 9 * yearly + 4 * np.sin(2 * np.pi * t / 24 - 2) + rng.normal(0, 1.0, HOURS)
    ar = np.zeros(HOURS)
    shocks = rng.normal(0, 0.12, HOURS)
    for i in range(1, HOURS):
        ar[i] = 0.92 * ar[i - 1] + shocks[i]
    load = 3 * daily + weekly + yearly + 0.05 * np.abs(temp - 17) + ar
    features = np.stack(
        [
            load,
            temp,
            np.sin(2 * np.pi * t / 24),
            np.cos(2 * np.pi * t / 24),
            np.sin(2 * np.pi * t / 168),
            np.cos(2 * np.pi * t / 168),
        ],
        axis=1,
    )
    return features


def make_windows(series, stride):
    starts = np.arange(0, len(series) - HISTORY - HORIZON, stride)
    x = np.stack([series[s : s + HISTORY] for s in starts])
    y = np.stack([series[s + HISTORY : s + HISTORY + HORIZON, 0] for s in starts])
    return x, y


class PositionalEmbedding(layers.Layer):
    def build(self, input_shape):
        self.pos = self.add_weight(
            shape=(input_shape[1], input_shape[2]), initializer="random_normal", name="pos"
        )

    def call(self, x):
        return x + self.pos


def encoder_block(x, dim, heads, dropout):
    h = layers.LayerNormalization(epsilon=1e-6)(x)
    h = layers.MultiHeadAttention(heads, dim // heads, dropout=dropout)(h, h)
    x = x + h
    h = layers.LayerNormalization(epsilon=1e-6)(x)
    h = layers.Dense(dim * 3, activation="relu")(h)
    h = layers.Dropout(dropout)(h)
    return x + layers.Dense(dim)(h)


def build(dim, depth, dropout):
    inputs = keras.Input((HISTORY, N_FEATURES))
    x = layers.Dense(dim)(inputs)
    x = PositionalEmbedding()(x)
    for _ in range(depth):
        x = encoder_block(x, dim, heads=4, dropout=dropout)
    x = layers.LayerNormalization(epsilon=1e-6)(x)
    x = layers.Concatenate()([x[:, -1], layers.GlobalAveragePooling1D()(x)])
    x = layers.Dense(128, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(HORIZON)(x))


def main():
    series = make_series()
    split = int(HOURS * 0.85)
    mean, std = series[:split].mean(0), series[:split].std(0)
    series = (series - mean) / std
    x_train, y_train = make_windows(series[:split], stride=6)
    x_val, y_val = make_windows(series[split:], stride=6)
    print("train windows", x_train.shape, "val windows", x_val.shape)

    results = {}
    for dim, depth, dropout in [(48, 2, 0.1), (64, 2, 0.2)]:
        model = build(dim, depth, dropout)
        steps = len(x_train) // 64 * 4
        model.compile(
            optimizer=keras.optimizers.AdamW(
                keras.optimizers.schedules.CosineDecay(
                    1e-4, steps, warmup_target=1.5e-3, warmup_steps=30
                ),
                weight_decay=1e-4,
            ),
            loss=keras.losses.Huber(),
            metrics=["mae"],
        )
        history = model.fit(
            x_train,
            y_train,
            validation_data=(x_val, y_val),
            batch_size=64,
            epochs=4,
            verbose=2,
            callbacks=[
                keras.callbacks.EarlyStopping(
                    monitor="val_loss", patience=3, restore_best_weights=True
                ),
                keras.callbacks.TerminateOnNaN(),
            ],
        )
        best = min(history.history["val_mae"])
        results[(dim, depth, dropout)] = best * std[0]
        print(f"dim={dim} depth={depth} dropout={dropout}: val MAE {best * std[0]:.4f}")

    winner = min(results, key=results.get)
    print("best setting", winner, "MAE", round(float(results[winner]), 4))


if __name__ == "__main__":
    main()
