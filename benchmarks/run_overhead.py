"""How much CPU time a monitored run takes more than a plain one.

Blocks of the same training, plain and monitored in several ways, take turns in one
process: each round runs all of them once, every second round in reverse order (ABBA), so
that what disturbs one disturbs the others. Each way has a model of its own, traced under
its own monitor, because the monitor puts operations into the graphs it sees traced. A
block is warmed up before its clocks are read, and the monitor's first record, with the
environment, is written by then: starting and stopping it stay outside. `plain again`
checks the benchmark itself: its interval must hold 0. On a busy machine it may not, and
then nothing follows from the other lines.

One thread within an operation and one beside it: with more, the CPU time of the same
step varies by several per cent, and the share of what the monitor adds is smaller.

    python benchmarks/run_overhead.py                        the promise: a fit and a loop
    python benchmarks/run_overhead.py --program tiny-fit --collectors
                                                             each collector switched off,
                                                             in steps so short that it shows

It exits with 1 where the promise (at most 1 % of a Keras fit with 5 ms steps and of a
custom loop likewise) is not kept, with 2 where the check of the benchmark failed.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import tensorflow as tf

import tbslow
from tb_slowdown_plugin.collectors import registry

MOST_ADDED: Final = 0.01
RESAMPLES: Final = 4000


class Cost(NamedTuple):
    """Seconds of one step."""

    process_cpu: float
    thread_cpu: float
    wall: float


@dataclass(frozen=True)
class Way:
    """One way to run the training; `disable` is None where it is not monitored."""

    name: str
    disable: tuple[str, ...] | None


@dataclass(frozen=True)
class Program:
    """One training; `build` makes the function that runs one block of it."""

    name: str
    build: Callable[[Way], Callable[[], Cost]]


class Window:
    """Reads the clocks at the begin and the end of what is measured."""

    def begin(self) -> None:
        """What is measured begins."""
        self._began = self._now()

    def end(self, steps: int) -> Cost:
        """It ends, after so many steps."""
        return Cost(
            *((now - then) / steps for now, then in zip(self._now(), self._began, strict=True))
        )

    def _now(self) -> tuple[float, float, float]:
        return time.process_time(), time.thread_time(), time.perf_counter()


class FitWindow(keras.callbacks.Callback):
    """Measures all epochs of a fit but the first; it has no method that runs for each batch."""

    def __init__(self, steps: int, settle: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._window, self._steps, self._settle = Window(), steps, settle

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """The second epoch begins what is measured."""
        if epoch == 1:
            self._settle()
            self._window.begin()

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002
        """The last epoch ends it."""
        if epoch:
            self.cost = self._window.end(epoch * self._steps)


def make_model(width: int, batch: int) -> tuple[keras.Model, tf.data.Dataset]:
    """Three dense layers and endless data for them."""
    keras.utils.set_random_seed(0)
    layers = [keras.layers.Dense(width, activation="relu") for _ in range(3)]
    model = keras.Sequential([keras.Input((width,)), *layers, keras.layers.Dense(1)])
    model.compile(keras.optimizers.SGD(1e-4), "mse", jit_compile=False)
    random = np.random.default_rng(0)
    x = tf.constant(random.normal(size=(batch, width)), tf.float32)
    data = tf.data.Dataset.from_tensors((x, tf.reduce_mean(x, 1, keepdims=True)))
    return model, data.repeat().prefetch(2)


def keras_fit(width: int, batch: int, steps: int) -> Callable[[Way], Callable[[], Cost]]:
    """A Keras fit of a warm epoch and three measured ones, `steps` each."""

    def build(way: Way) -> Callable[[], Cost]:
        model, data = make_model(width, batch)

        def run() -> Cost:
            if way.disable is None:
                window = FitWindow(steps)
                model.fit(data, epochs=4, steps_per_epoch=steps, verbose=0, callbacks=[window])
                return window.cost
            with tempfile.TemporaryDirectory() as logdir:
                watch = tbslow.keras.SlowdownCallback(logdir, disable=way.disable)
                window = FitWindow(steps, lambda: watch.monitor.flush())
                callbacks = [watch, window]
                model.fit(data, epochs=4, steps_per_epoch=steps, verbose=0, callbacks=callbacks)
                watch.monitor.stop()
            return window.cost

        return run

    return build


def custom_loop(width: int, batch: int, steps: int) -> Callable[[Way], Callable[[], Cost]]:
    """A loop that fetches in Python and calls a `tf.function`; `steps` are measured."""

    def build(way: Way) -> Callable[[], Cost]:
        model, data = make_model(width, batch)

        @tf.function
        def train(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean((model(x, training=True) - y) ** 2)
            variables = model.trainable_variables
            model.optimizer.apply_gradients(
                zip(tape.gradient(loss, variables), variables, strict=True)
            )
            return loss

        def run_plain(batches: Any, count: int) -> None:
            for _ in range(count):
                x, y = next(batches)
                train(x, y)

        def run_watched(batches: Any, count: int) -> None:
            for _ in range(count):
                x, y = next(batches)
                with tbslow.summary.step():
                    train(x, y)

        def measure(
            loop: Callable[[Any, int], None],
            batches: Any,
            settle: Callable[[], None] = lambda: None,
        ) -> Cost:
            window = Window()
            loop(batches, max(20, steps // 5))
            settle()
            window.begin()
            loop(batches, steps)
            return window.end(steps)

        def run() -> Cost:
            if way.disable is None:
                return measure(run_plain, iter(data))
            with (
                tempfile.TemporaryDirectory() as logdir,
                tbslow.start(logdir, disable=way.disable) as monitor,
            ):
                return measure(run_watched, iter(tbslow.data(data)), monitor.flush)

        return run

    return build


PROGRAMS: Final = (
    Program("fit", keras_fit(width=512, batch=64, steps=40)),
    Program("loop", custom_loop(width=512, batch=64, steps=120)),
    Program("short", custom_loop(width=128, batch=64, steps=500)),
    Program("tiny", custom_loop(width=16, batch=16, steps=1000)),
    Program("tiny-fit", keras_fit(width=16, batch=16, steps=200)),
)


def measure(program: Program, ways: Sequence[Way], rounds: int) -> np.ndarray:
    """The costs, shape (rounds, ways, 3)."""
    runs = [program.build(way) for way in ways]
    for run in runs:  # traced and warm
        run()
    gc.collect()
    gc.freeze()  # what TensorFlow has made would be walked through at random moments
    costs = np.empty((rounds, len(ways), 3))
    for nth in range(rounds):
        order = range(len(ways)) if nth % 2 == 0 else reversed(range(len(ways)))
        for way in order:
            costs[nth, way] = runs[way]()
    gc.unfreeze()
    return costs


def compare(costs: np.ndarray, plain: np.ndarray) -> tuple[float, float, float]:
    """The median of `costs - plain` over pairs of rounds, and its 95 % interval (bootstrap)."""
    pairs = (costs - plain)[: len(costs) // 2 * 2].reshape(-1, 2).mean(1)
    random = np.random.default_rng(0)
    drawn = np.median(random.choice(pairs, (RESAMPLES, len(pairs))), axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(np.median(pairs)), float(low), float(high)


def main() -> int:
    """Prints a table for each program."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    names = [program.name for program in PROGRAMS]
    arguments.add_argument("--program", choices=names, nargs="+", default=["fit", "loop"])
    arguments.add_argument("--rounds", type=int, default=40)
    arguments.add_argument("--collectors", nargs="*", help="switch off each, or these")
    chosen = arguments.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    tf.get_logger().setLevel("ERROR")
    known = tuple(collector.name for collector in registry.create())
    ways = [
        Way("plain", None),
        Way("monitored", ()),
        Way("plain again", None),
        Way("all off", known),
    ]
    if chosen.collectors is not None:
        ways += [Way(f"without {name}", (name,)) for name in chosen.collectors or known]
    print(f"TensorFlow {tf.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    status = 0
    for program in PROGRAMS:
        if program.name in chosen.program:
            costs = measure(program, ways, chosen.rounds)
            status = max(status, tell(program, ways, costs))
    return status


def tell(program: Program, ways: Sequence[Way], costs: np.ndarray) -> int:
    """Prints the table of one program; the exit status."""
    plain = costs[:, 0]
    step, _, wall = np.median(plain, axis=0)
    print(
        f"\n{program.name}: {step * 1e3:.2f} ms of CPU and {wall * 1e3:.2f} ms a step, "
        f"{len(costs)} rounds"
    )
    print("                           added process CPU, 95 % interval         thread CPU")
    status = 0
    for index, way in list(enumerate(ways))[1:]:
        added, low, high = (value * 1e6 for value in compare(costs[:, index, 0], plain[:, 0]))
        thread = compare(costs[:, index, 1], plain[:, 1])[0] * 1e6
        share, least, most = (value / step / 1e4 for value in (added, low, high))
        print(
            f"  {way.name:24} {added:7.1f} us [{low:6.1f}, {high:6.1f}] "
            f"= {share:5.2f} % [{least:5.2f}, {most:5.2f}] {thread:8.1f} us"
        )
        if way.name == "plain again" and not low <= 0 <= high:
            status = 2
        if way.name == "monitored" and share > 100 * MOST_ADDED:
            status = max(status, 1)
    return status


if __name__ == "__main__":
    sys.exit(main())
