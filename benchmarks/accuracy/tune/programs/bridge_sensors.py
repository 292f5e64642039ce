"""Strain gauges of a bridge: predicts the next second, and keeps a journal for the inspectors."""

import json
import os
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

GAUGES, PAST, BATCH, STEPS, SETTLED = 24, 96, 64, 700, 150


class Journal:
    """What was predicted and what was measured; must survive a power cut."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.index = open(self.folder / "index.jsonl", "a")

    def enter(self, step, measured, predicted):
        off = np.abs(measured - predicted).reshape(-1, 8, GAUGES)
        for name, block in (("measured", measured), ("predicted", predicted)):
            for gauge, part in enumerate(np.split(block, GAUGES, axis=1)):
                with open(self.folder / f"{name}_{gauge:02d}.bin", "ab") as f:
                    f.write(part.tobytes())
                    f.flush()
                    os.fsync(f.fileno())
        entry = {"step": step, "worst": int(off.mean((0, 1)).argmax())}
        self.index.write(json.dumps(entry) + "\n")
        self.index.flush()
        os.fsync(self.index.fileno())


def traffic(rng):
    """A batch of windows: lorries, wind, and the temperature."""
    t = np.arange(PAST + 8)[None, :, None]
    speed = rng.uniform(0.05, 0.3, (BATCH, 1, 1))
    place = np.linspace(0, 3, GAUGES)[None, None]
    lorry = np.exp(-((t * speed - 6 * place - rng.uniform(0, 4, (BATCH, 1, 1))) ** 2))
    wind = 0.2 * np.sin(0.4 * t + place) + 0.02 * rng.normal(size=(BATCH, PAST + 8, GAUGES))
    window = (lorry + wind).astype("float32")
    return window[:, :PAST], window[:, PAST:].reshape(BATCH, -1)


network = tf.keras.Sequential(
    [
        tf.keras.Input((PAST, GAUGES)),
        tf.keras.layers.Conv1D(64, 5, strides=2, activation="relu"),
        tf.keras.layers.Conv1D(96, 5, strides=2, activation="relu"),
        tf.keras.layers.Conv1D(96, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(8 * GAUGES),
    ]
)
optimizer = tf.keras.optimizers.AdamW(1e-3)


@tf.function
def step_fn(past, future):
    with tf.GradientTape() as tape:
        guess = network(past, training=True)
        loss = tf.reduce_mean(tf.keras.losses.huber(future, guess))
    grads = tape.gradient(loss, network.trainable_variables)
    optimizer.apply_gradients(zip(grads, network.trainable_variables))
    return loss, guess


def main():
    rng = np.random.default_rng(77)
    with tempfile.TemporaryDirectory(dir=".") as folder:
        journal = Journal(folder)
        for step in range(STEPS):
            past, future = traffic(rng)
            loss, guess = step_fn(past, future)
            if step >= SETTLED:
                journal.enter(step, future, guess.numpy())
            if step % 50 == 0:
                print(f"{step:4d} {float(loss):.5f}")


if __name__ == "__main__":
    main()
