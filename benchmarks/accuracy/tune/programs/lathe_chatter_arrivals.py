"""Chatter detection on a CNC lathe: the autoencoder learns from every recording as it arrives."""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--arrivals", type=int, default=9)
    p.add_argument("--windows", type=int, default=2048)
    p.add_argument("--width", type=int, default=512)
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--seed", type=int, default=11)
    return p.parse_args()


class Spindle:
    """stands in for the MQTT topic with accelerometer recordings"""

    def __init__(self, width, seed):
        self.width = width
        self.rng = np.random.default_rng(seed)
        self.t = np.arange(width, dtype=np.float32) / 5120.0

    def recordings(self, n, windows):
        for i in range(n):
            rpm = 1800 + 40 * i
            phase = self.rng.uniform(0, 6.28, (windows, 1)).astype(np.float32)
            amp = self.rng.gamma(4.0, 0.25, (windows, 1)).astype(np.float32)
            x = amp * np.sin(2 * np.pi * rpm / 60 * self.t[None] + phase)
            x += 0.4 * np.sin(2 * np.pi * 611 * self.t[None] + 2 * phase)
            x += 0.1 * self.rng.standard_normal((windows, self.width), dtype=np.float32)
            yield rpm, x.astype(np.float32)


class ChatterModel:
    def __init__(self, width, weights=None):
        inp = keras.Input((width,), name="window")
        h = layers.Dense(512)(inp)
        h = layers.BatchNormalization()(h)
        h = layers.LeakyReLU()(h)
        h = layers.Dense(256, activation="relu")(h)
        h = layers.Dropout(0.1)(h)
        code = layers.Dense(24, name="code")(h)
        h = layers.Dense(256, activation="relu")(code)
        h = layers.Dense(512)(h)
        h = layers.BatchNormalization()(h)
        h = layers.LeakyReLU()(h)
        out = layers.Dense(width, name="rebuilt")(h)
        self.net = keras.Model(inp, out)
        self.net.compile(optimizer=keras.optimizers.Adam(1e-3), loss="mse", metrics=["mae"])
        if weights is not None:
            self.net.set_weights(weights)

    def learn(self, x, epochs):
        return self.net.fit(x, x, batch_size=128, epochs=epochs, verbose=0)

    def state(self):
        return self.net.get_weights()


def main():
    args = parse()
    keras.utils.set_random_seed(args.seed)
    spindle = Spindle(args.width, args.seed)
    weights = None
    log = []

    for i, (rpm, x) in enumerate(spindle.recordings(args.arrivals, args.windows)):
        mean, std = x.mean(), x.std() + 1e-6
        x = (x - mean) / std
        model = ChatterModel(args.width, weights)
        hist = model.learn(x, args.epochs)
        weights = model.state()
        log.append((rpm, hist.history["loss"][-1]))
        print(
            f">{i:3d} rpm {rpm}  loss {hist.history['loss'][-1]:.4f}  mae {hist.history['mae'][-1]:.4f}"
        )

    worst = max(log, key=lambda r: r[1])
    print("hardest spindle speed:", worst[0], "loss", round(worst[1], 4))


if __name__ == "__main__":
    main()
