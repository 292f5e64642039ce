"""A training, plain and watched by turns, step by step: what `run_overhead.py` starts.

    python benchmarks/overhead_turns.py fit monitored
    python benchmarks/overhead_turns.py loop monitored --disable input_wait
    python benchmarks/overhead_turns.py fit plain

It says a line when it is warm, and answers each line that it reads: `pairs 400` asks for 400
steps as if there were no monitor and 400 watched ones, in pairs of random order, `watched 400`
for watched ones alone. The answer is what one step took, plain and watched: CPU seconds of the
training, CPU seconds of the monitor's own threads, and wall seconds; then, of each pair, what the
training took more in the watched step. `anew` begins a new
round, with functions that are traced anew. `plain` as the way has both sorts of steps unwatched.

Both sorts run in one process: before a plain step the monitor's hooks are taken out. A loop has
one function for both. A fit has two and calls now the one, now the other, because the monitor
puts operations into its graph. With `--one-graph` it has one, too, with those operations: what
is left is what the hooks take.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import math
import random
import statistics
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
"""Of a round, each way: TensorFlow finds out in some 90 executions which operations are cheap."""
PLAIN: Final = "plain"


class Took(NamedTuple):
    """What a stretch of time was, in seconds."""

    training: float
    background: float
    wall: float


class Turns:
    """Says of each step whether it is plain, and measures it."""

    def __init__(self) -> None:
        self._random = random.Random()
        self._took: dict[bool, list[Took]] = {True: [], False: []}
        self._began: Took | None = None
        self._plan: list[bool] = []
        self.is_plain = False
        self._warm_up()

    def is_over(self) -> bool:
        """A step has ended, and `is_plain` says what the next one is; whether there is none."""
        now = _read_clocks()
        if self._began is not None:
            pairs = zip(now, self._began, strict=True)
            self._took[self.is_plain].append(Took(*(end - begin for end, begin in pairs)))
        if not self._plan:
            self._answer()
            self._began = None
            what, _, steps = sys.stdin.readline().partition(" ")
            if what == "pairs":
                self._plan = [
                    is_plain
                    for _ in range(int(steps))
                    for is_plain in self._random.sample((True, False), 2)
                ]
            elif what == "watched":
                self._plan = [False] * int(steps)
            elif not what:
                sys.exit()
            else:
                self._warm_up()
                return True
        self.is_plain = self._plan.pop()
        return False

    def begin(self) -> None:
        """The next step begins now."""
        self._began = _read_clocks()

    def _answer(self) -> None:
        told = (
            statistics.fmean(each) if each else math.nan
            for took in (self._took[True], self._took[False])
            for each in (zip(*took, strict=True) if took else ((), (), ()))
        )
        more = (
            watched.training - plain.training
            for plain, watched in zip(self._took[True], self._took[False], strict=False)
        )
        print(*told, *more, flush=True)
        self._took = {True: [], False: []}

    def _warm_up(self) -> None:
        self.is_plain = False
        # Of two functions of a fit the one that is traced first was slower by 70 us a step.
        first = self._random.random() < 0.5
        self._plan = [not first] * WARM_STEPS + [first] * WARM_STEPS


def _read_clocks() -> Took:
    background = 0.0
    for thread in threading.enumerate():
        if thread.name.startswith("tbslow") and thread.ident is not None:
            background += time.clock_gettime(time.pthread_getcpuclockid(thread.ident))
    return Took(time.process_time() - background, background, time.perf_counter())


class Hooks:
    """What a monitor has put into the way of a step: taken out, and put in again.

    Made before it hooks in.

    Args:
      owners: What it hooks into, besides Python's garbage collector.
    """

    def __init__(self, *owners: Any) -> None:
        self._owners = owners
        self._without = self._with = self._look()

    def find(self) -> None:
        """The monitor has hooked in."""
        self._with = self._look()

    def put(self, *, hooked: bool) -> None:
        """Has steps run with the monitor's hooks, or without."""
        callbacks, owners = self._with if hooked else self._without
        gc.callbacks[:] = callbacks
        for owner, attributes in zip(self._owners, owners, strict=True):
            there = _callables(owner)
            for name in there.keys() - attributes.keys():
                delattr(owner, name)
            for name, value in attributes.items():
                if there.get(name) is not value:
                    setattr(owner, name, value)

    def _look(self) -> tuple[list[Any], list[dict[str, Any]]]:
        return list(gc.callbacks), [_callables(owner) for owner in self._owners]


def _callables(owner: Any) -> dict[str, Any]:
    return {name: value for name, value in vars(owner).items() if callable(value)}


class Watch:
    """The monitor in plain steps: its hooks are out, and its time stands still.

    Else what it does every so many milliseconds would fall on the watched steps alone, and each
    that comes after a plain one would seem a long one, which it looks into.

    Args:
      hooks: Its hooks in the process.
      recorder: What it appends to, None where there is no monitor.
      callbacks: Its own, for a fit.
    """

    def __init__(self, hooks: Hooks, recorder: Any, callbacks: list[Any]) -> None:
        self.callbacks = callbacks
        self._hooks = hooks
        self._recorder = recorder
        self._paused_ns = 0
        hooks.find()

    @property
    def is_on(self) -> bool:
        """Whether there is a monitor."""
        return self._recorder is not None

    def pause(self) -> None:
        """Plain steps come now."""
        if self.is_on and not self._paused_ns:
            self._hooks.put(hooked=False)
            self._paused_ns = time.monotonic_ns()

    def go_on(self) -> None:
        """Watched steps come now."""
        if not self._paused_ns:
            return
        passed_ns = time.monotonic_ns() - self._paused_ns
        self._paused_ns = 0
        recorder, watch = self._recorder, self._recorder.stopwatch
        for owner, moment in (
            (recorder, "_begun_ns"),
            (recorder, "_ended_ns"),
            (recorder, "_cpu_due_ns"),
            (watch, "changed_ns"),
            (watch, "ask_ns"),
        ):
            setattr(owner, moment, getattr(owner, moment) + passed_ns)
        self._hooks.put(hooked=True)


class Fit:
    """One round of `model.fit`."""

    def __init__(self, model: keras.Model, turns: Turns, watch: Watch, *, one_graph: bool) -> None:
        self._model, self._turns, self._watch = model, turns, watch
        self._listed = keras.callbacks.CallbackList(watch.callbacks, add_history=True, model=model)
        self._watching = list(self._listed.callbacks)
        self._plain = [each for each in self._watching if each not in watch.callbacks]
        self._hooks = Hooks(self._listed)
        self._functions = [_make_train_function(model)] * 2
        if not one_graph:
            self._functions[True] = _make_train_function(model)
        self._is_plain = False

    def run(self, data: tf.data.Dataset) -> None:
        """Runs it, until the turns are over."""
        self._model.train_function = self._take_turn
        self._model.fit(data, steps_per_epoch=sys.maxsize, verbose=0, callbacks=self._listed)

    def _take_turn(self, iterator: Any) -> Any:
        if self._turns.is_over():
            self._model.stop_training = True
        if self._is_plain is not self._turns.is_plain:
            self._turn()
        train = self._functions[self._is_plain]
        self._turns.begin()
        return train(iterator)

    def _turn(self) -> None:
        self._is_plain = self._turns.is_plain
        if self._is_plain:
            self._hooks.find()
            self._watch.pause()
        else:
            self._watch.go_on()
        self._hooks.put(hooked=not self._is_plain)
        self._listed.callbacks[:] = self._plain if self._is_plain else self._watching


def _make_train_function(model: keras.Model) -> Any:
    model.train_function = None
    model.make_train_function()
    return model.train_function


@contextlib.contextmanager
def watched(way: str, disable: list[str]) -> Iterator[Watch]:
    """Runs the monitor where there is to be one."""
    hooks = Hooks(tracing_compilation, iterator_ops.OwnedIterator)
    if way == PLAIN:
        yield Watch(hooks, None, [])
        return
    import tbslow

    with tempfile.TemporaryDirectory() as logdir, tbslow.start(logdir, disable=disable) as monitor:
        yield Watch(hooks, monitor.recorder, [tbslow.keras.SlowdownCallback("unused")])


def run_loop(model: keras.Model, data: tf.data.Dataset, turns: Turns, watch: Watch) -> None:
    """One round of a loop of one's own, plain, and as a user of the monitor writes it."""
    import tbslow

    train = make_train(model)
    plain, watched_data = iter(data), iter(tbslow.data(data))
    while not turns.is_over():
        if turns.is_plain or not watch.is_on:
            watch.pause()
            turns.begin()
            x, y = next(plain)
            train(x, y)
        else:
            watch.go_on()
            turns.begin()
            x, y = next(watched_data)
            with tbslow.summary.step():
                train(x, y)
    watch.go_on()


def main() -> None:
    """Runs round after round until its input ends."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("program", choices=list(PROGRAMS))
    arguments.add_argument("way", choices=[PLAIN, "monitored"])
    arguments.add_argument("--disable", nargs="*", default=[], help="collectors")
    arguments.add_argument("--threads", type=int, default=1, help="of TensorFlow; 0: its default")
    arguments.add_argument("--one-graph", action="store_true", help="of a fit, for both sorts")
    chosen = arguments.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(chosen.threads)
    tf.config.threading.set_inter_op_parallelism_threads(chosen.threads)
    tf.get_logger().setLevel("ERROR")
    width, batch = PROGRAMS[chosen.program]
    model, data = make_model(width), make_data(width, batch)
    turns = Turns()
    with watched(chosen.way, chosen.disable) as watch:
        while True:
            if chosen.program.endswith("fit"):
                Fit(model, turns, watch, one_graph=chosen.one_graph).run(data)
            else:
                run_loop(model, data, turns, watch)


if __name__ == "__main__":
    main()
