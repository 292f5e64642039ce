#!/usr/bin/env python3
"""Tags for music clips. Usage: music_tags.py [--epochs N] [--out DIR]"""

import argparse
import os

import numpy as np
import tensorflow as tf


def parse_args():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--epochs", default=3, type=int)
    p.add_argument("--batch-size", default=16, type=int)
    p.add_argument("--artists", default=40_000, type=int)
    p.add_argument("--out", default="checkpoints")
    return p.parse_args()


def clips(n, artists):
    rng = np.random.default_rng(77)
    artist = rng.integers(0, artists, n)
    mel = rng.normal(size=(n, 32, 16)).astype(np.float32)
    mel[np.arange(n), artist % 32] += 1.5
    tags = (artist[:, None] % np.arange(2, 12) == 0).astype(np.float32)
    return {"artist": artist, "mel": mel}, tags


def tagger(artists):
    artist = tf.keras.Input((), name="artist", dtype="int32")
    mel = tf.keras.Input((32, 16), name="mel")
    a = tf.keras.layers.Embedding(artists, 32)(artist)
    m = tf.keras.layers.Conv1D(48, 3, activation="relu")(mel)
    m = tf.keras.layers.GlobalAveragePooling1D()(m)
    both = tf.keras.layers.Concatenate()([a, m])
    both = tf.keras.layers.Dense(64, activation="relu")(both)
    return tf.keras.Model([artist, mel], tf.keras.layers.Dense(10, activation="sigmoid")(both))


if __name__ == "__main__":
    args = parse_args()
    os.makedirs(args.out, exist_ok=True)
    x, y = clips(2400, args.artists)
    model = tagger(args.artists)
    model.compile("adam", "binary_crossentropy", metrics=[tf.keras.metrics.AUC(multi_label=True)])
    keep = tf.keras.callbacks.ModelCheckpoint(
        os.path.join(args.out, "last.keras"),
        save_freq=5,
    )
    model.fit(x, y, batch_size=args.batch_size, epochs=args.epochs, callbacks=[keep], verbose=2)
