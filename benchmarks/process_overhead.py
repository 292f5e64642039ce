"""CPU time with and without the monitor in one process: a check of `run_overhead.py`.

That one puts the hooks in and takes them out from step to step, and a method can be wrong. Here a
process trains watched, stops the monitor in the middle, and goes on, so that nothing is put in or
taken out while it runs, and all threads count. Another process trains without a monitor: what its
halves differ by is what the method can't tell. The operations that the monitor puts into the graph
of a `fit` stay in both halves. `fit-callback` has a callback of the program's own beside the
monitor's, with an empty `on_train_batch_end`, which is timed.

    python benchmarks/process_overhead.py [--processes 4] [--seconds 3]
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

SIZES: Final = {1: (176, 64), 5: (512, 96), 25: (1024, 112)}
"""About so many milliseconds a step of one thread -> width of the layers, examples in a batch."""
WARM_STEPS: Final = 200
"""Before each half: first traces, and what the end of a monitor takes."""
PROGRAMS: Final = ("loop", "fit", "fit-callback")
FIRST, SECOND = "watched, then not", "never watched"


class Half(NamedTuple):
    """CPU seconds of a step."""

    training: float
    """In the training thread."""
    monitor: float
    """In the monitor's threads."""
    others: float
    """In those of TensorFlow: what the operations in the graph take, and what caches lose."""


def main() -> None:
    """Prints a row for each training, or trains."""
    parser = argparse.ArgumentParser(prog="python benchmarks/process_overhead.py")
    parser.add_argument("--processes", type=int, default=4, help="of each sort")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a half, about")
    parser.add_argument("--only", nargs="*", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument(
        "--sizes",
        nargs="*",
        type=int,
        default=list(SIZES),
        choices=list(SIZES),
        help="of a step, ms",
    )
    parser.add_argument("--train", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.train:
        program, milliseconds, steps, sort = options.train
        print(json.dumps(train(program, int(milliseconds), int(steps), watched=sort == FIRST)))
        return
    columns = ("training", "a step, ms", "sort", "training thread, us", "monitor's", "others'")
    print(f"| {' | '.join(columns)} | both, % |")
    print("|---|---|---|---|---|---|---|")
    for program in options.only:
        for milliseconds in options.sizes:
            steps = round(options.seconds * 1000 / milliseconds)
            for sort in (FIRST, SECOND):
                halves = [
                    measure(program, milliseconds, steps, sort) for _ in range(options.processes)
                ]
                print(describe(program, sort, halves), flush=True)


def describe(program: str, sort: str, halves: list[tuple[Half, Half]]) -> str:
    """A row: how much more a step of the first half took, median and range over processes."""
    added = [Half(*(a - b for a, b in zip(first, second, strict=True))) for first, second in halves]
    usual = statistics.median(sum(second) for _, second in halves)
    columns = [[1e6 * seconds for seconds in column] for column in zip(*added, strict=True)]
    columns.append([100 * (each.training + each.monitor) / usual for each in added])
    told = [
        f"{statistics.median(each):+.1f} [{min(each):+.1f}, {max(each):+.1f}]" for each in columns
    ]
    return f"| {program} | {1e3 * usual:.2f} | {sort} | {' | '.join(told)} |"


def measure(program: str, milliseconds: int, steps: int, sort: str) -> tuple[Half, Half]:
    """What a step of either half of a new process takes."""
    command = [sys.executable, __file__, "--train", program, str(milliseconds), str(steps), sort]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    first, second = json.loads(done.stdout.splitlines()[-1])
    return Half(*first), Half(*second)


def train(program: str, milliseconds: int, steps: int, *, watched: bool) -> list[Half]:
    """Trains both halves of so many steps each."""
    import tbslow
    from benchmarks.overhead_programs import make_data, make_model, tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    width, batch = SIZES[milliseconds]
    model, data = make_model(width), make_data(width, batch)
    marks: list[Half] = []

    def note(number: int) -> None:
        if number in (WARM_STEPS, WARM_STEPS + steps):
            marks.append(read_clocks())
        if number == WARM_STEPS + steps and watched:
            tbslow.stop()
        if number in (2 * WARM_STEPS + steps, 2 * (WARM_STEPS + steps)):
            marks.append(read_clocks())

    last = 2 * (WARM_STEPS + steps)
    with tempfile.TemporaryDirectory() as logdir:
        if program.startswith("fit"):
            callbacks = [tbslow.keras.SlowdownCallback(logdir)] if watched else []
            _fit(model, data, last, callbacks, note, beside=program == "fit-callback")
        else:
            _loop(model, data, last, WARM_STEPS + steps if watched else 0, logdir, note)
    return [
        Half(*((b - a) / steps for a, b in zip(*pair, strict=True)))
        for pair in ((marks[0], marks[1]), (marks[2], marks[3]))
    ]


def read_clocks() -> Half:
    """CPU seconds so far."""
    training, monitor = time.thread_time(), 0.0
    for thread in threading.enumerate():
        if thread.name.startswith("tbslow") and thread.ident is not None:
            monitor += time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return Half(training, monitor, time.process_time() - training - monitor)


def _loop(
    model: Any, data: Any, last: int, watched: int, logdir: str, note: Callable[[int], None]
) -> None:
    import tbslow
    from benchmarks.overhead_programs import make_train

    step = make_train(model)
    if watched:
        tbslow.start(logdir)
    for number, (x, y) in enumerate(tbslow.data(data) if watched else data, 1):
        with tbslow.summary.step() if number <= watched else nullcontext():
            step(x, y)
        note(number)
        if number == last:
            return


def _fit(
    model: Any,
    data: Any,
    last: int,
    callbacks: list[Any],
    note: Callable[[int], None],
    *,
    beside: bool,
) -> None:
    import keras

    class Own(keras.callbacks.Callback):  # type: ignore[misc]
        """Does nothing after each batch."""

        def on_train_batch_end(self, *_: object, **__: object) -> None:
            pass

    # No callback: those are what the monitor times.
    model.make_train_function()
    train, begun = model.train_function, itertools.count()

    def train_and_note(iterator: Any) -> Any:
        number = next(begun)
        if number:
            note(number)
        return train(iterator)

    model.train_function = train_and_note
    own = [Own()] if beside else []
    model.fit(data, steps_per_epoch=last + 1, verbose=0, callbacks=[*callbacks, *own])


if __name__ == "__main__":
    main()
