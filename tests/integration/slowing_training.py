"""A training that turns 50% slower while somebody looks at it.

`python slowing_training.py KIND LOGDIR SECONDS_BEFORE SECONDS_AFTER` trains for SECONDS_BEFORE,
then with one defect, and writes KIND.changed beside LOGDIR: the Unix seconds and the step of the
change.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tbslow

STEP_SECONDS = 0.02
"""What a step waits for, as for a device; a busy machine changes that little."""
MORE_SECONDS = 0.012


class Clock:
    """When the change comes, and when the end."""

    def __init__(self, marker: Path, before: float, after: float) -> None:
        self._marker = marker
        self._changes = time.monotonic() + before
        self._ends = self._changes + after
        self.steps = 0
        self.is_slow = False

    def goes_on(self) -> bool:
        """Counts a step; False at the end."""
        now = time.monotonic()
        if now >= self._changes and not self.is_slow:
            self.is_slow = True
            written = self._marker.with_suffix(".written")
            written.write_text(f"{time.time()} {self.steps}")
            written.rename(self._marker)  # there is never an empty one to read
        self.steps += 1
        return now < self._ends


@tf.function
def train_step(batch: tf.Tensor, rate: float | tf.Tensor) -> tf.Tensor:
    tf.py_function(lambda: time.sleep(STEP_SECONDS), [], [])
    return tf.reduce_sum(batch) * rate


def endless(clock: Clock, more_seconds: float) -> tf.data.Dataset:
    """Batches that take `more_seconds` once the change has come."""

    def batches() -> object:
        while True:
            if clock.is_slow:
                time.sleep(more_seconds)
            yield np.ones(16, np.float32)

    signature = tf.TensorSpec((16,), tf.float32)
    return tf.data.Dataset.from_generator(batches, output_signature=signature)


def custom(kind: str, logdir: str, clock: Clock) -> None:
    """A loop whose batches, arguments or Python work change."""
    data = endless(clock, STEP_SECONDS + MORE_SECONDS if kind == "input" else 0.0)
    rate = tf.constant(0.1)
    kept: list[float] = []
    with tbslow.start(logdir):
        for batch in tbslow.data(data):
            if not clock.goes_on():
                break
            with tbslow.summary.step():
                is_retraced = kind == "retracing" and clock.is_slow and clock.steps % 3 == 0
                train_step(batch, float(clock.steps) if is_retraced else rate)
                if kind == "python" and clock.is_slow:
                    kept.append(compute_in_python(MORE_SECONDS))


def compute_in_python(seconds: float) -> float:
    """Works in the interpreter for so much CPU time."""
    end = time.thread_time() + seconds
    total = 0.0
    while time.thread_time() < end:
        total += sum(index * 0.5 for index in range(500))
    return total


class SlowCallback(tf.keras.callbacks.Callback):
    """Slow at the end of each batch once the change has come."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        if self._clock.is_slow:
            time.sleep(MORE_SECONDS)
        if not self._clock.goes_on():
            self.model.stop_training = True


class Wait(tf.keras.layers.Layer):
    """Waits as for a device."""

    def call(self, inputs: tf.Tensor) -> tf.Tensor:
        def wait(values: tf.Tensor) -> tf.Tensor:
            time.sleep(STEP_SECONDS)
            return values

        waited = tf.py_function(wait, [inputs], tf.float32)
        waited.set_shape(inputs.shape)
        return inputs + 0.0 * tf.stop_gradient(waited)


def callback(logdir: str, clock: Clock) -> None:
    """A fit with a callback that gets slow."""
    model = tf.keras.Sequential([tf.keras.Input((4,)), Wait(), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    model.fit(
        np.ones((16_000, 4), np.float32),
        np.ones((16_000, 1), np.float32),
        batch_size=16,
        epochs=1000,
        verbose=0,
        callbacks=[SlowCallback(clock), tbslow.keras.SlowdownCallback(logdir)],
    )


def main(kind: str, logdir: Path, before: float, after: float) -> None:
    clock = Clock(logdir.parent / f"{kind}.changed", before, after)
    logdir.mkdir(parents=True, exist_ok=True)
    if kind == "callback":
        callback(str(logdir / kind), clock)
    else:
        custom(kind, str(logdir / kind), clock)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]))
