"""One way to run a training, in turns of a few steps: what `run_overhead.py` starts.

    python benchmarks/overhead_turns.py fit plain
    python benchmarks/overhead_turns.py loop monitored --disable input_wait

Each line that it reads asks for so many steps; it answers with what they took: CPU seconds of
the training, CPU seconds of the monitor's own threads, and wall seconds, a step. The first
steps of a turn do not count: whoever had the turn before has filled the caches. 0 steps end
the round: the training begins anew, with a function that is traced anew.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import tensorflow as tf

from benchmarks.overhead_programs import PROGRAMS, make_data, make_model, make_train

WARM_STEPS: Final = 200
"""Of a round: TensorFlow finds out in some 90 executions which operations are cheap."""
COLD_STEPS: Final = 2
"""Of a turn."""


class Turns:
    """Counts steps, and waits for the next turn where one is over."""

    def __init__(self) -> None:
        self._left = WARM_STEPS
        self._steps = 0
        self._began = (0.0, 0.0, 0.0)

    def is_over(self) -> bool:
        """Called before each step; whether the round is over."""
        if self._steps and self._left == self._steps:
            self._began = _read_clocks()
        if self._left:
            self._left -= 1
            return False
        if self._steps:
            _tell(
                *(
                    (now - then) / self._steps
                    for now, then in zip(_read_clocks(), self._began, strict=True)
                )
            )
        else:
            _tell()
        line = sys.stdin.readline()
        if not line:
            sys.exit()
        self._steps = int(line)
        self._left = self._steps + COLD_STEPS
        if not self._steps:
            self._left = WARM_STEPS
            return True
        self._left -= 1
        return False


def _tell(*numbers: float) -> None:
    print(*numbers, flush=True)


def _read_clocks() -> tuple[float, float, float]:
    """CPU time of the training, that of the monitor's threads, and wall time."""
    background = 0.0
    for thread in threading.enumerate():
        if thread.name.startswith("tbslow") and thread.ident is not None:
            background += time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return time.process_time() - background, background, time.perf_counter()


@contextlib.contextmanager
def watched(way: str, disable: list[str]) -> Iterator[list[Any]]:
    """Runs the monitor where there is to be one; gives the callbacks for a fit."""
    if way == "plain":
        yield []
        return
    import tbslow

    with tempfile.TemporaryDirectory() as logdir, tbslow.start(logdir, disable=disable):
        yield [tbslow.keras.SlowdownCallback("unused")]


def run_fit(model: keras.Model, data: tf.data.Dataset, turns: Turns, callbacks: list[Any]) -> None:
    """One round of `model.fit`."""
    model.train_function = None
    model.make_train_function()
    train = model.train_function

    def take_turns(iterator: Any) -> Any:
        if turns.is_over():
            model.stop_training = True
        return train(iterator)

    model.train_function = take_turns
    model.fit(data, steps_per_epoch=sys.maxsize, verbose=0, callbacks=callbacks)


def run_plain_loop(model: keras.Model, data: tf.data.Dataset, turns: Turns) -> None:
    """One round of a loop of one's own."""
    train = make_train(model)
    for x, y in data:
        if turns.is_over():
            return
        train(x, y)


def run_watched_loop(model: keras.Model, data: tf.data.Dataset, turns: Turns) -> None:
    """The same loop, as a user of the monitor writes it."""
    import tbslow

    train = make_train(model)
    for x, y in tbslow.data(data):
        if turns.is_over():
            return
        with tbslow.summary.step():
            train(x, y)


def main() -> None:
    """Runs round after round until its input ends."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("program", choices=list(PROGRAMS))
    arguments.add_argument("way", choices=["plain", "monitored"])
    arguments.add_argument("--disable", nargs="*", default=[], help="collectors")
    arguments.add_argument("--threads", type=int, default=1, help="of TensorFlow; 0: its default")
    chosen = arguments.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(chosen.threads)
    tf.config.threading.set_inter_op_parallelism_threads(chosen.threads)
    tf.get_logger().setLevel("ERROR")
    width, batch = PROGRAMS[chosen.program]
    model, data = make_model(width), make_data(width, batch)
    turns = Turns()
    with watched(chosen.way, chosen.disable) as callbacks:
        while True:
            if chosen.program.endswith("fit"):
                run_fit(model, data, turns, callbacks)
            elif chosen.way == "plain":
                run_plain_loop(model, data, turns)
            else:
                run_watched_loop(model, data, turns)


if __name__ == "__main__":
    main()
