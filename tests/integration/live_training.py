"""A training process that goes on until it is told to stop: three loops, one after another.

`python live_training.py LOGDIR CONTROL` ends each loop when the file CONTROL/<loop>
appears, and then the number of its steps is in CONTROL/<loop>.steps.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np
import tensorflow as tf

import tbslow

PAUSE_SECONDS = 0.005


def custom(logdir: Path, stop: Path) -> int:
    """A custom loop: the user's scalars, and a monitor beside them."""
    count = 0
    writer = tf.summary.create_file_writer(str(logdir), flush_millis=200)
    with tbslow.start(str(logdir)), writer.as_default():
        while not stop.exists():
            with tbslow.summary.step(count):
                tf.summary.scalar("loss", 1.0 / (count + 1), step=count)
                time.sleep(PAUSE_SECONDS)
            count += 1
    return count


def idiom(logdir: Path, stop: Path) -> int:
    """No monitor: the steps go through the user's own writer."""
    count = 0
    writer = tf.summary.create_file_writer(str(logdir), flush_millis=200)
    with writer.as_default():
        while not stop.exists():
            with tbslow.summary.step(count):
                tf.summary.scalar("loss", 1.0 / (count + 1), step=count)
                time.sleep(PAUSE_SECONDS)
            count += 1
            if count % 100 == 0:
                writer.flush()
    return count


class _Stop(tf.keras.callbacks.Callback):
    def __init__(self, stop: Path) -> None:
        super().__init__()
        self.count = 0
        self._stop = stop

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        self.count += 1
        time.sleep(PAUSE_SECONDS)

    def on_epoch_end(self, epoch: int, logs: object = None) -> None:
        self.model.stop_training = self._stop.exists()


def keras(logdir: Path, stop: Path) -> int:
    """Keras `fit` with its own TensorBoard callback in the same logdir."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    until = _Stop(stop)
    model.fit(
        np.ones((160, 4), np.float32),
        np.ones((160, 1), np.float32),
        batch_size=16,
        epochs=100_000,
        verbose=0,
        callbacks=[
            tf.keras.callbacks.TensorBoard(str(logdir), update_freq=1),
            tbslow.keras.SlowdownCallback(str(logdir)),
            until,
        ],
    )
    return until.count


def main(logdir: Path, control: Path) -> None:
    for loop in (custom, idiom, keras):
        steps = loop(logdir / loop.__name__, control / loop.__name__)
        written = control / f"{loop.__name__}.written"
        written.write_text(str(steps))
        written.rename(control / f"{loop.__name__}.steps")  # there is never an empty one to read


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
