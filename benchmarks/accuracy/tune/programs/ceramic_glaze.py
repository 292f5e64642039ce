"""Predicts glaze thickness maps from infrared frames of tiles in the dryer."""

import argparse
import random

import numpy as np
import tensorflow as tf
import keras
from keras import layers

DEFAULTS = {
    "seed": 20,
    "workers": 1,
    "frames": 520,
    "side": 48,
    "epochs": 4,
    "batch": 32,
}


def prepare(cfg):
    random.seed(cfg.seed)
    np.random.seed(cfg.seed)
    tf.random.set_seed(cfg.seed)
    tf.config.threading.set_intra_op_parallelism_threads(cfg.workers)
    tf.config.threading.set_inter_op_parallelism_threads(cfg.workers)
    tf.config.set_soft_device_placement(True)


def frames(cfg):
    rng = np.random.default_rng(cfg.seed)
    n, s = cfg.frames, cfg.side
    coarse = rng.normal(0, 1, (n, 6, 6, 1)).astype("float32")
    thick = tf.image.resize(coarse, (s, s), method="bicubic").numpy()
    emiss = tf.image.resize(rng.uniform(0.7, 1, (n, 4, 4, 1)).astype("float32"), (s, s)).numpy()
    hot = np.exp(-0.4 * thick) * emiss
    cool = np.exp(-0.1 * thick) * emiss
    x = np.concatenate([hot, cool], -1) + rng.normal(0, 0.05, (n, s, s, 2))
    return x.astype("float32"), thick.astype("float32")


def block(x, width):
    y = layers.Conv2D(width, 3, padding="same", activation="relu")(x)
    y = layers.Conv2D(width, 3, padding="same")(y)
    if x.shape[-1] != width:
        x = layers.Conv2D(width, 1)(x)
    return layers.ReLU()(layers.add([x, y]))


def thickness_net(side):
    inp = keras.Input((side, side, 2))
    a = block(inp, 32)
    b = block(layers.MaxPooling2D()(a), 64)
    c = block(layers.MaxPooling2D()(b), 96)
    u = layers.UpSampling2D()(c)
    u = block(layers.concatenate([u, b]), 64)
    u = layers.UpSampling2D()(u)
    u = block(layers.concatenate([u, a]), 32)
    out = layers.Conv2D(1, 1)(u)
    return keras.Model(inp, out, name="thickness")


def parse():
    p = argparse.ArgumentParser()
    for k, v in DEFAULTS.items():
        p.add_argument("--" + k, type=type(v), default=v)
    return p.parse_args()


def main():
    cfg = parse()
    prepare(cfg)
    x, y = frames(cfg)
    cut = cfg.frames * 9 // 10
    model = thickness_net(cfg.side)
    model.compile(
        optimizer=keras.optimizers.AdamW(2e-3, weight_decay=1e-4),
        loss="huber",
        metrics=["mae"],
    )
    stop = keras.callbacks.EarlyStopping("val_loss", patience=4, restore_best_weights=True)
    plan = keras.callbacks.ReduceLROnPlateau("val_loss", patience=2, factor=0.5)
    model.fit(
        x[:cut],
        y[:cut],
        validation_data=(x[cut:], y[cut:]),
        batch_size=cfg.batch,
        epochs=cfg.epochs,
        callbacks=[stop, plan],
        verbose=2,
    )
    print("best mae", model.evaluate(x[cut:], y[cut:], verbose=0)[1])


if __name__ == "__main__":
    main()
