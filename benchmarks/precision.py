"""How long a step takes in float64 and float16, next to float32.

    python benchmarks/precision.py            # three small models: 1 minute

All take turns in one process, so that what else the machine does hits both.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

STEPS: Final = 15
"""In a turn."""

DTYPES: Final = ("float32", "float64", "float16")


def main() -> None:
    """Prints a row for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    turns = parser.parse_args().turns
    print("| model | float32, ms | float64, times as long | float16, times as long |")
    print("|---|---|---|---|")
    for kind in ("dense layers", "convolutions", "LSTM"):
        steps = {dtype: make_step(kind, dtype) for dtype in DTYPES}
        took: dict[str, list[float]] = {dtype: [] for dtype in steps}
        for turn in range(-1, turns):  # the first one warms up
            for dtype, step in steps.items():
                began = time.perf_counter()
                for _ in range(STEPS):
                    step()
                if turn >= 0:
                    took[dtype].append((time.perf_counter() - began) / STEPS * 1e3)
        single, double, half = (float(np.median(each)) for each in took.values())
        longer = f"{double / single:.1f} | {half / single:.1f}"
        print(f"| {kind} | {single:.2f} | {longer} |", flush=True)


def make_step(kind: str, dtype: str) -> Callable[[], Any]:
    """A training step of a model, as a graph."""
    import tensorflow as tf

    def weights(*shapes: tuple[int, ...]) -> list[Any]:
        return [tf.Variable(tf.random.normal(each, dtype=dtype) * 0.05) for each in shapes]

    if kind == "dense layers":
        made, shape = weights((256, 512), (512, 512), (512, 10)), [128, 256]
    elif kind == "convolutions":
        made, shape = weights((3, 3, 3, 32), (3, 3, 32, 32)), [32, 32, 32, 3]
    else:
        made, shape = weights((64, 256), (64, 256)), [32, 30, 64]
    data = tf.random.normal(shape, dtype=dtype)

    def compute() -> Any:
        x = data
        if kind == "LSTM":
            state = memory = tf.zeros((32, 64), dtype)
            for at in range(shape[1]):
                gates = tf.split(x[:, at] @ made[0] + state @ made[1], 4, 1)
                memory = tf.sigmoid(gates[0]) * memory + tf.sigmoid(gates[1]) * tf.tanh(gates[2])
                state = tf.sigmoid(gates[3]) * tf.tanh(memory)
            return state
        for each in made:
            x = x @ each if kind == "dense layers" else tf.nn.conv2d(x, each, 1, "SAME")
            x = tf.nn.relu(x)
        return x

    def step() -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(compute() ** 2)
        for each, gradient in zip(made, tape.gradient(loss, made), strict=True):
            each.assign_sub(tf.cast(0.01, dtype) * gradient)
        return loss

    made_graph: Callable[[], Any] = tf.function(step)
    return made_graph


if __name__ == "__main__":
    main()
