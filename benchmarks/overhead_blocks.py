"""Which part of the monitor takes how much of a `fit`: parts off at random, in blocks of steps.

One `fit` runs watched. In each block of 50 steps, each part is on or off at random; a regression
within neighboring blocks tells what it takes. So parts are compared within one process and one
second, where whole processes differ by several percent.

    python benchmarks/overhead_blocks.py [--processes 5] [--callback]
"""

from __future__ import annotations

import argparse
import gc
import itertools
import json
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

WIDTH, BATCH = 512, 96
"""Steps of some 5 ms."""
BLOCK: Final = 50
SKIPPED: Final = 10
"""Steps of a block that aren't measured: what was switched is cold."""
WARM_BLOCKS: Final = 8
NEIGHBORS: Final = 6
"""Blocks that are compared with each other."""
OUTER: Final = 0.03
"""Of the blocks at either end, which are pulled in."""
PARTS: Final = (
    "hooks of the callback list",
    "other hooks",
    "clocks of CPU time",
    "input wait in graphs",
    "background threads",
)
CLOCKS: Final = ("process", "training thread", "wall")


def main() -> None:
    """Prints a row for each part, or trains."""
    parser = argparse.ArgumentParser(prog="python benchmarks/overhead_blocks.py")
    parser.add_argument("--processes", type=int, default=5)
    parser.add_argument("--blocks", type=int, default=100)
    parser.add_argument("--callback", action="store_true", help="beside one of the program's own")
    parser.add_argument("--train", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        print(json.dumps(train(options.blocks, beside=options.callback)))
        return
    command = [sys.executable, __file__, "--train", "--blocks", str(options.blocks)]
    command += ["--callback"] * options.callback
    estimates, usual = [], []
    for _ in range(options.processes):
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        blocks = json.loads(done.stdout.splitlines()[-1])
        switched = np.array([parts for parts, _ in blocks], float)
        took = np.array([clocks for _, clocks in blocks])
        estimates.append(estimate(switched, took))
        usual.append(np.median(took, axis=0))
    step = zip(np.median(usual, 0), CLOCKS, strict=True)
    print(f"a step, in us: {', '.join(f'{us:.0f} ({name})' for us, name in step)}\n")
    print(f"| part | {', us a step | '.join(CLOCKS)}, us a step |")
    print("|---|---|---|---|")
    found = np.array(estimates)
    error = 2 * found.std(0, ddof=1) / np.sqrt(len(found)) if len(found) > 1 else 0 * found[0]
    for part, means, errors in zip(PARTS, found.mean(0), error, strict=True):
        told = (f"{mean:+.0f} ± {err:.0f}" for mean, err in zip(means, errors, strict=True))
        print(f"| {part} | {' | '.join(told)} |")


def estimate(switched: np.ndarray, took: np.ndarray) -> np.ndarray:
    """What each part takes.

    Args:
      switched: Shape (blocks, parts), 1 where it was on.
      took: Shape (blocks, clocks), microseconds of a step.

    Returns:
      Shape (parts, clocks).
    """
    whole = len(took) // NEIGHBORS * NEIGHBORS
    causes = switched[:whole].reshape(-1, NEIGHBORS, switched.shape[1])
    times = took[:whole].reshape(-1, NEIGHBORS, took.shape[1])
    causes = (causes - causes.mean(1, keepdims=True)).reshape(whole, -1)
    times = (times - np.median(times, 1, keepdims=True)).reshape(whole, -1)
    low, high = np.quantile(times, (OUTER, 1 - OUTER), axis=0)
    return np.linalg.lstsq(causes, np.clip(times, low, high), rcond=None)[0]


class Switches:
    """Has parts of a monitor do nothing for a while."""

    def __init__(self) -> None:
        from tb_slowdown_plugin.writer.monitor import Monitor

        self._is_on = [True] * len(PARTS)
        self._go_on = threading.Event()
        self._go_on.set()
        guarded = Monitor._guarded

        def wait(monitor: Any, work: Any) -> float:
            self._go_on.wait()
            return guarded(monitor, work)

        Monitor._guarded = wait  # type: ignore[method-assign]

    def put(self, recorder: Any, parts: list[bool]) -> None:
        """Switches on what is True, and off the rest."""
        for index, (was, now) in enumerate(zip(self._is_on, parts, strict=True)):
            if was != now:
                (self._hook, self._hook, self._read_clocks, self._ask, self._work)[index](
                    recorder, now, index
                )
        self._is_on = parts

    def _hook(self, recorder: Any, now: bool, index: int) -> None:
        from tb_slowdown_plugin.collectors.hooks import method_hooks

        for function, hooked in method_hooks._hooked.items():
            if any(hook.what.by == "fit" for hook in hooked.hooks) == (index == 0):
                function.__code__ = hooked._current if now else hooked._own
        if index:
            if not now:
                self._collecting = list(gc.callbacks)
            gc.callbacks[:] = self._collecting if now else []
        elif now:  # the step that was open is no longer than others
            passed_ns = time.perf_counter_ns() - self._off_ns
            for owner, name in (
                (recorder, "_begun_ns"),
                (recorder, "_ended_ns"),
                (recorder.stopwatch, "changed_ns"),
            ):
                setattr(owner, name, getattr(owner, name) + passed_ns)
        else:
            self._off_ns = time.perf_counter_ns()

    def _read_clocks(self, recorder: Any, now: bool, _: int) -> None:
        recorder._cpu_due_ns = 0 if now else sys.maxsize

    def _ask(self, recorder: Any, now: bool, _: int) -> None:
        watch = recorder.stopwatch
        if not now:
            self._askers = list(watch.askers)
        watch.askers[:] = self._askers if now else []
        watch.ask_ns = 0 if now else sys.maxsize

    def _work(self, _: Any, now: bool, __: int) -> None:
        (self._go_on.set if now else self._go_on.clear)()


def train(blocks: int, *, beside: bool) -> list[tuple[list[bool], list[float]]]:
    """Trains, and gives of each block what was on, and microseconds of a step by each clock."""
    import keras

    import tbslow
    from benchmarks.overhead_programs import make_data, make_model, tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    model, data = make_model(WIDTH), make_data(WIDTH, BATCH)
    switches, draw, begun = Switches(), random.Random(), itertools.count()
    found: list[tuple[list[bool], list[float]]] = []
    parts, before = [True] * len(PARTS), (0, 0, 0)

    class Own(keras.callbacks.Callback):  # type: ignore[misc]
        """Does nothing after each batch."""

        def on_train_batch_end(self, *_: object, **__: object) -> None:
            pass

    # No callback is the clock: those are what the monitor times.
    model.make_train_function()
    run = model.train_function

    def train_and_note(iterator: Any) -> Any:
        nonlocal parts, before
        block, step = divmod(next(begun), BLOCK)
        if block > WARM_BLOCKS and step == 0:
            now = time.process_time_ns(), time.thread_time_ns(), time.perf_counter_ns()
            if before[0]:
                each = [(b - a) / (BLOCK - SKIPPED) / 1e3 for a, b in zip(before, now, strict=True)]
                found.append((parts, each))
            parts = [draw.random() < 0.5 for _ in PARTS]
            switches.put(watching.monitor.recorder, parts)
        elif block > WARM_BLOCKS and step == SKIPPED:
            before = time.process_time_ns(), time.thread_time_ns(), time.perf_counter_ns()
        return run(iterator)

    model.train_function = train_and_note
    with tempfile.TemporaryDirectory() as logdir:
        watching: Any = tbslow.keras.SlowdownCallback(logdir)
        callbacks = [watching, *([Own()] if beside else [])]
        steps = BLOCK * (blocks + WARM_BLOCKS + 2)
        model.fit(data, steps_per_epoch=steps, verbose=0, callbacks=callbacks)
        switches.put(watching.monitor.recorder, [True] * len(PARTS))
        tbslow.stop()
    return found


if __name__ == "__main__":
    main()
