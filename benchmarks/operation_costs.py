"""What solvers and slow functions of numbers take, next to products of matrices.

    python benchmarks/operation_costs.py            # 1 minute

The figures of `collectors/graph_work/operation_costs.py`: products and sums in the time that an
operation takes, of the cube of a matrix's side, or of each number that it is given; and in that of
a call.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

import numpy as np

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

TURNS: Final = 9
SIDES: Final = (300, 800)
NUMBERS: Final = 2_000_000

SOLVERS: Final[dict[str, Callable[[Any], Any]]] = {
    "MatMul": lambda x: tf.matmul(x, x),
    "Cholesky": tf.linalg.cholesky,
    "LogMatrixDeterminant": lambda x: tf.linalg.slogdet(x)[1],
    "MatrixInverse": tf.linalg.inv,
    "MatrixSolve": lambda x: tf.linalg.solve(x, x),
    "MatrixSquareRoot": tf.linalg.sqrtm,
    "MatrixTriangularSolve": lambda x: tf.linalg.triangular_solve(x, x),
    "Qr": lambda x: tf.linalg.qr(x)[0],
    "SelfAdjointEigV2": lambda x: tf.linalg.eigh(x)[0],
    "Svd": lambda x: tf.linalg.svd(x)[0],
}
FUNCTIONS: Final[dict[str, Callable[[Any], Any]]] = {
    "Cumsum": tf.cumsum,
    "Digamma": tf.math.digamma,
    "FloorMod": lambda x: tf.math.floormod(x, 0.3),
    "Lgamma": tf.math.lgamma,
    "Multinomial": lambda x: tf.random.categorical(x[tf.newaxis], 64),
    "Pow": lambda x: tf.pow(x, 1.5),
    "Pow, squared": lambda x: tf.pow(x, 2.0),
    "RandomShuffle": tf.random.shuffle,
    "RandomShuffle, rows of 16": lambda x: tf.random.shuffle(tf.reshape(x, (-1, 16))),
    "RandomStandardNormal": lambda x: tf.random.normal(tf.shape(x)),
    "RandomUniform": lambda x: tf.random.uniform(tf.shape(x)),
    "StatelessRandomNormalV2": lambda x: tf.random.stateless_normal(tf.shape(x), _seed_of(x)),
    "StatelessRandomUniformV2": lambda x: tf.random.stateless_uniform(tf.shape(x), _seed_of(x)),
    "TopKV2": lambda x: tf.math.top_k(x, 64)[0],
    "TopKV2, all": tf.sort,
    "TopKV2, rows of 500": lambda x: tf.sort(tf.reshape(x, (-1, 500))),
    "Unique": lambda x: tf.unique(tf.cast(1000 * x, tf.int32))[0],
    "Where": lambda x: tf.where(x > 0.5),
}


VARIABLES: Final = (0, 20, 60)
"""Of a function that does next to nothing else than to add to them."""


def _seed_of(numbers: Any) -> Any:
    """None that TensorFlow knows ahead."""
    return tf.cast(1e6 * numbers[:2], tf.int32)


def main() -> None:
    """Prints a row for each."""
    rng = np.random.default_rng(0)
    product_seconds = 0.0
    print("| operation | side, or numbers | ms | products |")
    print("|---|---|---|---|")
    for side in SIDES:
        rows = rng.random((side, side)).astype(np.float32)
        matrix = tf.constant(rows @ rows.T + side * np.eye(side, dtype=np.float32))
        for name, compute in SOLVERS.items():
            seconds = measure(compute, matrix)
            if name == "MatMul":
                product_seconds = seconds / (2 * side**3)
            told = seconds / product_seconds / side**3
            print(f"| `{name}` | {side} | {1e3 * seconds:.2f} | {told:.1f} |", flush=True)
    numbers = tf.constant(rng.random(NUMBERS).astype(np.float32) + 0.1)
    nothing = measure(lambda x: x, numbers)
    for name, compute in FUNCTIONS.items():
        seconds = max(measure(compute, numbers) - nothing, 0.0)
        told = seconds / product_seconds / NUMBERS
        print(f"| `{name}` | {NUMBERS:,} | {1e3 * seconds:.2f} | {told:.0f} |", flush=True)

    for variables in VARIABLES:
        seconds = measure_call(variables)
        told = seconds / product_seconds
        print(f"| a call with variables | {variables} | {1e3 * seconds:.2f} | {told:,.0f} |")


def measure_call(variables: int) -> float:
    """Seconds of a call that adds to so many variables: the median of several hundred."""
    sums = [tf.Variable(0.0) for _ in range(variables)]

    @tf.function(autograph=False)
    def add(value: Any) -> Any:
        for each in sums:
            each.assign_add(value)
        return value + 1.0

    value, took = tf.constant(1.0), []
    for turn in range(-10, 100 * TURNS):
        began = time.perf_counter()
        add(value)
        if turn >= 0:
            took.append(time.perf_counter() - began)
    return float(np.median(took))


def measure(compute: Callable[[Any], Any], value: Any) -> float:
    """Seconds of one call in a graph that gives a number: the median of several."""
    graph = tf.function(lambda given: tf.reduce_sum(compute(given)), autograph=False)
    took = []
    for turn in range(-2, TURNS):
        began = time.perf_counter()
        graph(value).numpy()
        if turn >= 0:
            took.append(time.perf_counter() - began)
    return float(np.median(took))


if __name__ == "__main__":
    main()
