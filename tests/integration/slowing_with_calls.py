"""A training whose function is called when it gets slower or stalls.

`python slowing_with_calls.py LOOP LOGDIR CHANGE FUNCTION`: LOOP is "custom" or "keras"; CHANGE is
"none", "slower", or "stall", after 5 s; FUNCTION is "print", "raise", "block", or "stop". Prints
each event as JSON, and `done STEPS` at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tbslow
from tb_slowdown_plugin.writer.on_slowdown import pace_watch

STEP_SECONDS = 0.02
BEFORE_SECONDS, AFTER_SECONDS, STALL_SECONDS = 5.0, 14.0, 8.0


def waits_for_lock() -> None:
    """Waits for a lock that comes free."""
    lock = threading.Lock()
    lock.acquire()
    threading.Timer(STALL_SECONDS, lock.release).start()
    lock.acquire()


class Program:
    """What each step does besides its work."""

    def __init__(self, change: str) -> None:
        self._change = change
        self._changes = 0.0
        self.steps = 0

    def step(self) -> bool:
        """Whether the training goes on."""
        now = time.monotonic()
        if not self.steps:
            self._changes = now + BEFORE_SECONDS
        self.steps += 1
        if now >= self._changes and self._change == "slower":
            time.sleep(STEP_SECONDS)
        elif now >= self._changes and self._change == "stall":
            self._change = "none"
            waits_for_lock()
        return now < self._changes + AFTER_SECONDS


class Stop(tf.keras.callbacks.Callback):
    """Does the same in a `fit`."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program

    def on_train_batch_end(self, batch: int, logs: object = None) -> None:
        time.sleep(STEP_SECONDS)
        if not self._program.step():
            self.model.stop_training = True


def call(function: str, event: tbslow.SlowdownEvent) -> None:
    """What the user does with an event."""
    print(json.dumps(event.to_dict()), flush=True)  # noqa: T201
    if function == "raise":
        raise ValueError("no such channel")
    if function == "block":
        time.sleep(3600.0)
    if function == "stop":
        tbslow.stop()


def custom(logdir: str, program: Program, function: str) -> None:
    @tf.function
    def train_step(value: tf.Tensor) -> tf.Tensor:
        return tf.reduce_sum(value)

    value = tf.ones((16,))
    with tbslow.start(logdir, on_slowdown=lambda event: call(function, event)) as monitor:
        monitor._session.stalls.least_seconds = 3.0
        goes_on = True
        while goes_on:
            # The function may have stopped the monitor: there is no step then.
            with contextlib.nullcontext() if monitor.stopped else tbslow.summary.step():
                train_step(value)
                time.sleep(STEP_SECONDS)
                goes_on = program.step()


def keras(logdir: str, program: Program, function: str) -> None:
    model = tf.keras.Sequential([tf.keras.Input((4,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    callback = tbslow.keras.SlowdownCallback(
        logdir, on_slowdown=lambda event: call(function, event)
    )
    model.fit(
        np.ones((16_000, 4), np.float32),
        np.ones((16_000, 1), np.float32),
        batch_size=16,
        epochs=1000,
        verbose=0,
        callbacks=[Stop(program), callback],
    )


if __name__ == "__main__":
    pace_watch.SLOWER_SECONDS = 4.0
    loop, logdir, change, function = sys.argv[1:]
    program = Program(change)
    (custom if loop == "custom" else keras)(logdir, program, function)
    print(f"done {program.steps}", flush=True)  # noqa: T201
