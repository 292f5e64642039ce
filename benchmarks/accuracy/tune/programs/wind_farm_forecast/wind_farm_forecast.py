"""Forecast of the next three hours of power for every turbine of a farm."""

import os
import tempfile

import keras
import numpy as np
from keras import layers

from scada import CHANNELS, readings, windows
from watch import Pace, WeightWatch

HISTORY = 72
AHEAD = 18
BATCH = 32
EPOCHS = 4


def build():
    inputs = keras.Input((HISTORY, CHANNELS), name="history")
    x = layers.Conv1D(48, 5, padding="causal", activation="relu")(inputs)
    for depth, rate in enumerate((1, 3, 9)):
        r = layers.Conv1D(
            64, 3, padding="causal", dilation_rate=rate, activation="relu", name=f"tcn_{depth}a"
        )(x)
        r = layers.Conv1D(64, 3, padding="causal", dilation_rate=rate, name=f"tcn_{depth}b")(r)
        if x.shape[-1] != 64:
            x = layers.Dense(64, name=f"match_{depth}")(x)
        x = layers.LayerNormalization()(layers.add([x, r]))
    x = layers.Concatenate()([layers.GlobalAveragePooling1D()(x), x[:, -1], x[:, -7]])
    x = layers.Dense(320, activation="relu", name="mix")(x)
    x = layers.Dropout(0.1)(x)
    low = layers.Dense(AHEAD, name="low")(x)
    mid = layers.Dense(AHEAD, name="mid")(x)
    high = layers.Dense(AHEAD, name="high")(x)
    out = layers.Lambda(lambda t: keras.ops.stack(t, axis=-1), output_shape=(AHEAD, 3))(
        [low, mid, high]
    )
    return keras.Model(inputs, out)


def pinball(y_true, y_pred):
    """Quantile loss for the 10, 50 and 90 % lines."""
    q = keras.ops.convert_to_tensor([0.1, 0.5, 0.9])
    gap = keras.ops.expand_dims(y_true, -1) - y_pred
    return keras.ops.mean(keras.ops.maximum(q * gap, (q - 1.0) * gap))


def main():
    keras.utils.set_random_seed(14)
    farm = readings(days=150, turbines=12, seed=1)
    cut = int(farm.shape[1] * 0.8)
    x, y = windows(farm[:, :cut], HISTORY, AHEAD, 4800, seed=2)
    xv, yv = windows(farm[:, cut:], HISTORY, AHEAD, 800, seed=3)
    model = build()
    model.compile(optimizer=keras.optimizers.Adam(1e-3, clipnorm=1.0), loss=pinball)
    with tempfile.TemporaryDirectory() as folder:
        model.fit(
            x,
            y,
            validation_data=(xv, yv),
            batch_size=BATCH,
            epochs=EPOCHS,
            verbose=0,
            callbacks=[WeightWatch(os.path.join(folder, "kernels.csv")), Pace()],
        )
    guess = model.predict(xv, batch_size=200, verbose=0)
    inside = (yv >= guess[..., 0]) & (yv <= guess[..., 2])
    last = np.repeat(xv[:, -1:, 1], AHEAD, axis=1)
    print(
        f"inside the 80 % band: {inside.mean():.3f}   "
        f"mean error {np.abs(guess[..., 1] - yv).mean():.4f}   "
        f"persistence {np.abs(last - yv).mean():.4f}"
    )


if __name__ == "__main__":
    main()
