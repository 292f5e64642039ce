"""Walk-forward fine-tuning of a volatility forecaster on simulated intraday returns."""

import time

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

LOOKBACK = 32
N_ASSETS = 6
DAYS = 13
BARS_PER_DAY = 390
TRAIN_DAYS = 3
EPOCHS_PER_DAY = 2
BATCH = 128
BASE_LR = 2e-3


def simulate_returns(n, rng):
    """GARCH(1,1) for each asset with a common factor and an intraday U-shape."""
    omega, alpha, beta = 0.02, 0.08, 0.90
    var = np.ones(N_ASSETS)
    out = np.empty((n, N_ASSETS), "float32")
    tod = np.arange(n) % BARS_PER_DAY / BARS_PER_DAY
    u_shape = 0.8 + 1.6 * (tod - 0.5) ** 2
    for t in range(n):
        shock = 0.6 * rng.normal() + 0.8 * rng.normal(size=N_ASSETS)
        r = np.sqrt(var) * shock
        var = omega + alpha * r**2 + beta * var
        out[t] = r * u_shape[t]
    return out


def make_windows(returns, start, stop):
    idx = np.arange(start, stop)
    x = np.stack([returns[i - LOOKBACK : i] for i in idx])
    feats = np.concatenate([x, np.abs(x)], axis=-1)
    y = np.log(np.abs(returns[idx]) + 1e-2)
    return feats.astype("float32"), y.astype("float32")


def learning_rate_for(day):
    return BASE_LR * 0.93**day


def build_forecaster():
    inputs = keras.Input((LOOKBACK, 2 * N_ASSETS))
    x = layers.LayerNormalization()(inputs)
    x = layers.Conv1D(48, 5, padding="causal", activation="relu")(x)
    x = layers.GRU(64, return_sequences=True)(x)
    x = layers.GRU(64)(x)
    x = layers.Dense(64, activation="relu")(x)
    return keras.Model(inputs, layers.Dense(N_ASSETS)(x), name="vol_gru")


def naive_forecast(feats):
    recent = feats[:, -8:, N_ASSETS:]
    return np.log(recent.mean(axis=1) + 1e-2) - 0.4


def summarise(rows):
    table = np.array(rows)
    print("\n%5s %10s %10s %10s" % ("day", "train", "model", "naive"))
    for day, train_loss, model_err, naive_err in table:
        print("%5d %10.4f %10.4f %10.4f" % (day, train_loss, model_err, naive_err))
    gain = 1.0 - table[:, 2].mean() / table[:, 3].mean()
    print("mean improvement over naive: %.1f%%" % (100 * gain))


def main():
    keras.utils.set_random_seed(99)
    rng = np.random.default_rng(99)
    total_days = TRAIN_DAYS + DAYS + 1
    returns = simulate_returns(LOOKBACK + total_days * BARS_PER_DAY, rng)
    returns /= returns[: TRAIN_DAYS * BARS_PER_DAY].std(axis=0)

    model = build_forecaster()
    print("parameters:", model.count_params())
    rows = []
    started = time.time()
    for day in range(DAYS):
        lo = LOOKBACK + day * BARS_PER_DAY
        hi = lo + TRAIN_DAYS * BARS_PER_DAY
        x, y = make_windows(returns, lo, hi)
        x_next, y_next = make_windows(returns, hi, hi + BARS_PER_DAY)

        model.compile(optimizer=keras.optimizers.Adam(learning_rate_for(day)), loss="mse")
        hist = model.fit(x, y, batch_size=BATCH, epochs=EPOCHS_PER_DAY, verbose=0)

        forecast = np.concatenate(
            [model.predict_on_batch(x_next[i : i + 130]) for i in range(0, BARS_PER_DAY, 130)]
        )
        err = float(np.mean((forecast - y_next) ** 2))
        base = float(np.mean((naive_forecast(x_next) - y_next) ** 2))
        rows.append((day, hist.history["loss"][-1], err, base))
        print(
            "day %2d  lr %.5f  mse %.4f  (%.1f s)"
            % (day, learning_rate_for(day), err, time.time() - started)
        )
    print("training took %.1f s" % (time.time() - started))
    summarise(rows)


if __name__ == "__main__":
    main()
