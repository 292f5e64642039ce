"""Wear of climbing ropes from tension traces (Keras fit).

Each trace is a drop on the rope; the net says how many of the sheath's
strands are cut (0..4). A small status board for the workshop's wall display
shows how the training stands.
"""

import json
import os
import tempfile
import threading

import numpy as np
import tensorflow as tf
from tensorflow import keras

SEED = 21
N_TRACES = 7680
TRACE_LEN = 96
GRADES = 5
BATCH = 128
EPOCHS = 6

keras.utils.set_random_seed(SEED)


def make_traces(n, rng):
    t = np.linspace(0, 1, TRACE_LEN, dtype=np.float32)
    grade = rng.integers(0, GRADES, n)
    weight = rng.uniform(0.7, 1.3, n)[:, None]
    stretch = 6 + 1.5 * grade[:, None] + rng.normal(0, 0.4, (n, 1))
    damping = 2.5 + 0.5 * grade[:, None] * rng.uniform(0.8, 1.2, (n, 1))
    trace = weight * np.exp(-damping * t) * np.cos(2 * np.pi * stretch * t)
    for k in range(1, GRADES):
        at = rng.integers(5, TRACE_LEN - 5, n)
        rows = np.flatnonzero(grade >= k)
        trace[rows, at[rows]] -= 0.5
    trace += rng.normal(0, 0.12, trace.shape)
    return trace[..., None].astype(np.float32), grade.astype(np.int32)


class StatusBoard(keras.callbacks.Callback):
    """Writes a line for the wall display whenever a new best loss is seen."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.latest = None
        self.painter = None
        self.shown = None
        self.running = False
        self.lines = 0

    def on_epoch_end(self, epoch, logs=None):
        self.latest = {
            "epoch": epoch + 1,
            "loss": round(float(logs["loss"]), 4),
            "accuracy": round(float(logs["accuracy"]), 4),
        }

        if not self.running:
            self.running = True
            self.painter = threading.Thread(target=self.paint, daemon=True)
            self.painter.start()

    def on_train_end(self, logs=None):
        self.running = False
        self.painter.join()

    def paint(self):
        best = np.inf
        while self.running:
            news = self.latest
            if news is None or news is self.shown:
                continue
            self.shown = news
            if news["loss"] < best:
                best = news["loss"]
                with open(self.path, "a") as board:
                    board.write(json.dumps(news) + "\n")
                self.lines += 1


def build_model():
    inputs = keras.Input((TRACE_LEN, 1))
    x = keras.layers.Conv1D(24, 7, strides=2, padding="same", activation="relu")(inputs)
    x = keras.layers.Conv1D(32, 5, strides=2, padding="same", activation="relu")(x)
    x = keras.layers.BatchNormalization(momentum=0.9)(x)
    x = keras.layers.Conv1D(48, 3, padding="same", activation="relu")(x)
    x = keras.layers.GlobalAveragePooling1D()(x)
    x = keras.layers.Dense(32, activation="relu")(x)
    outputs = keras.layers.Dense(GRADES, activation="softmax")(x)
    return keras.Model(inputs, outputs, name="rope_wear")


def main():
    rng = np.random.default_rng(SEED)
    x, y = make_traces(N_TRACES, rng)
    x_test, y_test = make_traces(1200, rng)
    train = (
        tf.data.Dataset.from_tensor_slices((x, y))
        .shuffle(N_TRACES, seed=SEED)
        .batch(BATCH, drop_remainder=True)
        .prefetch(2)
    )

    model = build_model()
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
    )
    board = StatusBoard(os.path.join(tempfile.mkdtemp(prefix="ropes_"), "board.jsonl"))
    model.fit(train, epochs=EPOCHS, callbacks=[board], verbose=2)

    loss, accuracy = model.evaluate(x_test, y_test, batch_size=256, verbose=0)
    print(f"unseen ropes: loss {loss:.3f}, accuracy {accuracy:.3f}")
    print(f"{board.lines} lines on the board")


if __name__ == "__main__":
    main()
