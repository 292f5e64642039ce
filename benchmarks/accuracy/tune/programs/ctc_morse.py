"""Reads Morse signals with CTC; signals of similar length share a batch of one of three widths."""

import random

import keras
import numpy as np
import tensorflow as tf
from keras import layers

LETTERS = {1: ".-", 2: "-...", 3: "-.-.", 4: "-..", 5: ".", 6: "..-.", 7: "--.", 8: "...."}
WIDTHS, LABELS, BATCH = (120, 200, 280), 9, 24


def signals(n=1800, seed=28):
    rng = np.random.default_rng(seed)
    for _ in range(n):
        text = rng.integers(1, 9, rng.integers(2, LABELS))
        unit, wave = rng.integers(2, 4), []
        for letter in text:
            for mark in LETTERS[int(letter)]:
                wave += [1.0] * (unit * (3 if mark == "-" else 1)) + [0.0] * unit
            wave += [0.0] * (2 * unit)
        yield np.array(wave[: WIDTHS[-1]]), text


def bucketed(examples, seed=0):
    rng = np.random.default_rng(seed)
    batches = []
    for low, width in zip((0, *WIDTHS), WIDTHS):
        inside = [(w, t) for w, t in examples if low < len(w) <= width]
        for k in range(0, len(inside) - BATCH + 1, BATCH):
            x = rng.normal(0, 0.3, (BATCH, width, 1)).astype("float32")
            y = np.zeros((BATCH, LABELS), "int32")
            for row, (wave, text) in enumerate(inside[k : k + BATCH]):
                x[row, : len(wave), 0] += wave
                y[row, : len(text)] = text
            batches.append((x, y))
    return batches


def ctc_loss(y_true, y_pred):
    frames = tf.fill([tf.shape(y_pred)[0]], tf.shape(y_pred)[1])
    letters = tf.math.count_nonzero(y_true, axis=1, dtype=tf.int32)
    return tf.nn.ctc_loss(
        tf.cast(y_true, tf.int32), y_pred, letters, frames, logits_time_major=False, blank_index=0
    )


wave = keras.Input((None, 1))
x = layers.Conv1D(32, 7, padding="same", activation="relu")(wave)
x = layers.Conv1D(48, 5, strides=2, padding="same", activation="relu")(x)
x = layers.Bidirectional(layers.GRU(48, return_sequences=True))(x)
model = keras.Model(wave, layers.Dense(len(LETTERS) + 1)(x))
model.compile(keras.optimizers.Adam(2e-3, clipnorm=5.0), loss=ctc_loss)
batches = bucketed(list(signals()))
for epoch in range(6):
    random.shuffle(batches)
    losses = [model.train_on_batch(x, y) for x, y in batches]
    print(f"epoch {epoch + 1}: {len(losses)} batches, loss {losses[-1]:.3f}")
