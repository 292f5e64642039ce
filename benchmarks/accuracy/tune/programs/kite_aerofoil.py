"""Surrogate for lift and drag of kite profiles (functional model with two inputs)."""

import os
import pathlib
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

RUN = {"n": 20480, "batch": 256, "epochs": 5, "points": 64, "width": 640}


def wind_tunnel(n, seed=0):
    rng = np.random.default_rng(seed)
    u = np.linspace(0, 1, RUN["points"])
    camber = rng.uniform(0, 0.12, n)
    thick = rng.uniform(0.04, 0.2, n)
    shape = (
        camber[:, None] * 4 * u * (1 - u)
        + thick[:, None] * np.sqrt(u) * (1 - u)
        + rng.normal(0, 0.002, (n, RUN["points"]))
    )
    alpha = rng.uniform(-8, 18, n)
    reynolds = rng.uniform(4.5, 6.5, n)
    flow = np.stack([alpha / 10, reynolds - 5.5], 1)
    lift = 0.11 * (alpha + 90 * camber) / (1 + np.exp((alpha - 14) * 0.8))
    drag = 0.01 + 0.02 * lift**2 + 0.05 * thick + 0.004 * (6.5 - reynolds)
    return (
        {"shape": shape.astype("float32"), "flow": flow.astype("float32")},
        {"lift": lift.astype("float32"), "drag": 10 * drag.astype("float32")},
    )


def build():
    shape = keras.Input((RUN["points"],), name="shape")
    flow = keras.Input((2,), name="flow")
    a = layers.Dense(RUN["width"], activation="swish")(shape)
    b = layers.Dense(RUN["width"], activation="swish")(flow)
    x = layers.Concatenate()([a, b])
    for _ in range(2):
        x = layers.Dense(RUN["width"], activation="swish")(x)
    lift = layers.Dense(1, name="lift")(x)
    drag = layers.Dense(1, name="drag")(x)
    return keras.Model({"shape": shape, "flow": flow}, {"lift": lift, "drag": drag})


class LiftDragRatio(keras.callbacks.Callback):
    def __init__(self, probe):
        super().__init__()
        self.probe = probe

    def on_epoch_end(self, epoch, logs=None):
        out = self.model(self.probe)
        ratio = out["lift"].numpy() / (out["drag"].numpy() / 10)
        print(f"   best glide ratio so far: {ratio.max():.1f}")


def callbacks_for(folder, probe):
    return [
        keras.callbacks.ReduceLROnPlateau(monitor="loss", patience=2, factor=0.5),
        keras.callbacks.BackupAndRestore(
            os.path.join(folder, "backup"), save_freq=4, delete_checkpoint=False
        ),
        keras.callbacks.CSVLogger(os.path.join(folder, "history.csv")),
        LiftDragRatio(probe),
    ]


def main():
    keras.utils.set_random_seed(99)
    folder = tempfile.mkdtemp(prefix="kite_")
    x, y = wind_tunnel(RUN["n"])
    n_val = 2048
    xv = {k: v[-n_val:] for k, v in x.items()}
    yv = {k: v[-n_val:] for k, v in y.items()}
    xt = {k: v[:-n_val] for k, v in x.items()}
    yt = {k: v[:-n_val] for k, v in y.items()}
    model = build()
    model.compile(
        keras.optimizers.Adam(1e-3),
        loss={"lift": "mse", "drag": "mse"},
        metrics={"lift": "mae", "drag": "mae"},
    )
    model.fit(
        xt,
        yt,
        batch_size=RUN["batch"],
        epochs=RUN["epochs"],
        validation_data=(xv, yv),
        verbose=2,
        callbacks=callbacks_for(folder, {k: v[:256] for k, v in xv.items()}),
    )
    print(pathlib.Path(folder, "history.csv").read_text().splitlines()[-1])


if __name__ == "__main__":
    main()
