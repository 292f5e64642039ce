"""What `profile_on_slowdown` adds to a run that turns slow at step 1,000.

    python benchmarks/capture_cost.py [--steps 4000] [--runs 3]

Each run has steps of about 5 ms, the input wait doubles at step 1,000, and the monitor takes two
captures. Added is: the seconds that the training thread spent on starting, stopping and
saving (the account `profiling`), and what the captured steps took longer than the median of
the 100 steps beside them. Both are of the same run, so a busy machine does not move them
apart. It exits with 1 where they are more than 1 % of the run (README: "captures add").
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np
import tensorflow as tf

import tbslow
from tb_slowdown_plugin.profiler.digest import captured_in
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run

MOST_ADDED: Final = 0.01
FAST: Final = 1_000
BESIDE: Final = 50


def train(logdir: str, steps: int) -> Run:
    """A small model, fed by a map that takes 2 ms, and 6 ms from step 1,000 on."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(256, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    model.build((None, 256))
    optimizer.build(model.trainable_variables)

    @tf.function
    def update(x: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    def load(number: tf.Tensor) -> tf.Tensor:
        seconds = tf.where(number < FAST, 0.002, 0.006)
        waited = tf.numpy_function(lambda s: time.sleep(float(s)) or s, [seconds], tf.float32)
        return tf.ones((64, 256)) * tf.ensure_shape(waited, ())

    with tbslow.start(logdir, profile_on_slowdown=True):
        for batch in tbslow.data(tf.data.Dataset.range(steps).map(load)):
            with tbslow.summary.step():
                update(batch)
    (run,) = read_runs(logdir, warn=print)
    return run


def added_seconds(logdir: str, run: Run) -> tuple[float, float, int]:
    """Seconds for starting and saving, seconds that captured steps took longer, captures."""
    period = run.steps.period_seconds
    profiling = run.steps.accounts.get("profiling", np.zeros(len(period)))
    work = period - profiling
    longer = 0.0
    captured = captured_in(Path(logdir), run)
    for one in captured:
        first, last = one.rows
        beside = np.r_[max(0, first - BESIDE) : first, last + 1 : last + 1 + BESIDE]
        usual = float(np.median(work[beside[beside < len(work)]]))
        longer += float(np.sum(work[first : last + 1] - usual))
    return float(profiling.sum()), longer, len(captured)


def main() -> int:
    """Prints one line a run."""
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--steps", type=int, default=4_000)
    parser.add_argument("--runs", type=int, default=3)
    chosen = parser.parse_args()
    shares = []
    for _ in range(chosen.runs):
        with tempfile.TemporaryDirectory() as logdir:
            run = train(logdir, chosen.steps)
            saving, longer, captures = added_seconds(logdir, run)
            wall = float(run.steps.period_seconds.sum())
            shares.append((saving + longer) / wall)
            print(
                f"{captures} captures in {len(run.steps):,} steps, {wall:.1f} s: "
                f"{saving * 1e3:.0f} ms starting and saving, "
                f"captured steps {longer * 1e3:+.0f} ms: {shares[-1]:.2%}"
            )
    kept = max(shares) <= MOST_ADDED
    print("kept" if kept else "NOT KEPT", f"(at most {MOST_ADDED:.0%} of the run)")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
