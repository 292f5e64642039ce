"""One way to run a training, in turns of a few steps: what `run_overhead.py` starts.

    python benchmarks/overhead_turns.py fit plain
    python benchmarks/overhead_turns.py loop monitored --disable input_wait

Each line that it reads asks for so many steps; it answers with what they took: CPU seconds of
the training, CPU seconds of the monitor's own threads, and wall seconds, a step. The first
steps of a turn do not count: whoever had the turn before has filled the caches. 0 steps end
the round: the training begins anew, with a function that is traced anew.

A loop runs both ways in one process, with one function: `plain 16` asks for 16 steps as if
there were no monitor, its hooks taken out meanwhile. A fit can't: the monitor puts operations
into its graph.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import keras
import tensorflow as tf
from tensorflow.python.data.ops import iterator_ops
from tensorflow.python.eager.polymorphic_function import tracing_compilation

from benchmarks.overhead_programs import PROGRAMS, make_data, make_model, make_train

WARM_STEPS: Final = 200
"""Of a round: TensorFlow finds out in some 90 executions which operations are cheap."""
COLD_STEPS: Final = 3
"""Of a turn."""
PLAIN: Final = "plain"


class Request(NamedTuple):
    """What is asked for."""

    steps: int
    is_plain: bool


class Turns:
    """Counts steps, and waits for the next turn where one is over."""

    def __init__(self) -> None:
        self._left = WARM_STEPS
        self._steps = 0
        self._began = (0.0, 0.0, 0.0)
        self.is_plain = False

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
        self._steps, self.is_plain = _read_request()
        self._left = self._steps + COLD_STEPS
        if not self._steps:
            self._left = WARM_STEPS
            return True
        self._left -= 1
        return False


def _read_request() -> Request:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    *way, steps = line.split()
    return Request(int(steps), way == [PLAIN])


def _tell(*numbers: float) -> None:
    print(*numbers, flush=True)


def _read_clocks() -> tuple[float, float, float]:
    """CPU time of the training, that of the monitor's threads, and wall time."""
    background = 0.0
    for thread in threading.enumerate():
        if thread.name.startswith("tbslow") and thread.ident is not None:
            background += time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return time.process_time() - background, background, time.perf_counter()


class Hooks:
    """What a monitor has put into the way of a step: taken out, and put in again.

    Made before it starts.
    """

    _OWNERS: Final = (tracing_compilation, iterator_ops.OwnedIterator)

    def __init__(self) -> None:
        self._without = self._look()

    def find(self) -> None:
        """The monitor has started."""
        self._with = self._look()

    def put(self, *, hooked: bool) -> None:
        """Has steps run with the monitor's hooks, or without."""
        callbacks, owners = self._with if hooked else self._without
        gc.callbacks[:] = callbacks
        for owner, attributes in zip(self._OWNERS, owners, strict=True):
            for name, value in attributes.items():
                if vars(owner).get(name) is not value:
                    setattr(owner, name, value)

    def _look(self) -> tuple[list[Any], list[dict[str, Any]]]:
        owners = [
            {name: value for name, value in vars(owner).items() if callable(value)}
            for owner in self._OWNERS
        ]
        return list(gc.callbacks), owners


@contextlib.contextmanager
def watched(way: str, disable: list[str]) -> Iterator[list[Any]]:
    """Runs the monitor where there is to be one; gives the callbacks for a fit."""
    if way == PLAIN:
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


def run_loop(
    model: keras.Model, data: tf.data.Dataset, turns: Turns, hooks: Hooks, *, watch: bool
) -> None:
    """One round of a loop of one's own, plain, and as a user of the monitor writes it."""
    import tbslow

    train = make_train(model)
    plain, watched_data = iter(data), iter(tbslow.data(data))
    over = False
    while not over:
        if turns.is_plain or not watch:
            hooks.put(hooked=False)
            for x, y in plain:
                over = turns.is_over()
                if over or (watch and not turns.is_plain):
                    break
                train(x, y)
        else:
            hooks.put(hooked=True)
            for x, y in watched_data:
                over = turns.is_over()
                if over or turns.is_plain:
                    break
                with tbslow.summary.step():
                    train(x, y)
    hooks.put(hooked=watch)


def main() -> None:
    """Runs round after round until its input ends."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("program", choices=list(PROGRAMS))
    arguments.add_argument("way", choices=[PLAIN, "monitored"])
    arguments.add_argument("--disable", nargs="*", default=[], help="collectors")
    arguments.add_argument("--threads", type=int, default=1, help="of TensorFlow; 0: its default")
    chosen = arguments.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(chosen.threads)
    tf.config.threading.set_inter_op_parallelism_threads(chosen.threads)
    tf.get_logger().setLevel("ERROR")
    width, batch = PROGRAMS[chosen.program]
    model, data = make_model(width), make_data(width, batch)
    turns, hooks = Turns(), Hooks()
    with watched(chosen.way, chosen.disable) as callbacks:
        hooks.find()
        while True:
            if chosen.program.endswith("fit"):
                run_fit(model, data, turns, callbacks)
            else:
                run_loop(model, data, turns, hooks, watch=chosen.way != PLAIN)


if __name__ == "__main__":
    main()
