"""What each collector costs, a step and a sample, between real training steps.

A step of 5 ms fills the caches with its own data, so what runs between two steps takes 5 to
10 times what it takes in an idle loop. Hence this is timed where it really runs: in a Keras
fit the calls that Keras makes at the begin and the end of a batch, in a custom loop the
fetch of a batch (of data that are there) and both ends of `with tbslow.summary.step()`.
Blocks with one collector, with none and with all take turns; a block counts with the median
of its steps, a part with the median of the differences to the block without collectors
right before it.

A sample is the CPU time of one reading in the background, while a fit trains; here they are
taken 40 times as often as else. What operations in graphs cost is not in this table
(`run_overhead.py` has it), nor what traces cost (`trace_hook.py`).

    python benchmarks/step_parts.py
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tensorflow as tf

import tbslow
from benchmarks.overhead_programs import PROGRAMS, CustomLoop, KerasFit, Way, monitored
from tb_slowdown_plugin.collectors import registry
from tb_slowdown_plugin.writer.sampling import (
    collection,
)
from tb_slowdown_plugin.writer.sampling import (
    sampler as schedule,
)

FIRST_STEPS: Final = 120
"""Of a new function: TensorFlow finds out in some 90 executions which operations are cheap."""
SETTLED: Final = 20
"""Steps of a block before those that count."""
SAMPLE_SECONDS: Final = 0.00625

Times = list[float]


class Probe(tf.keras.callbacks.Callback):
    """Times what Keras's callback list does at each batch, the monitor's hooks included."""

    def on_train_begin(self, logs: Any = None) -> None:  # noqa: ARG002
        """Comes after the monitor's callback, and so around its hooks."""
        frame = sys._getframe(1)
        while not isinstance(frame.f_locals.get("self"), tf.keras.callbacks.CallbackList):
            frame = frame.f_back  # type: ignore[assignment]
        calls = frame.f_locals["self"]
        self.nanoseconds: list[int] = []
        for name in ("on_train_batch_begin", "on_train_batch_end"):
            setattr(calls, name, self._timed(getattr(calls, name)))

    def _timed(self, call: Callable[..., None]) -> Callable[..., None]:
        now, note = time.perf_counter_ns, self.nanoseconds

        def timed(*arguments: Any) -> None:
            began = now()
            call(*arguments)
            note.append(now() - began)

        return timed


def fit_block(program: KerasFit, way: Way, steps: int) -> float:
    """Microseconds that the callback list takes a batch."""
    probe = Probe()
    with monitored(way):
        watch = [] if way.disable is None else [tbslow.keras.SlowdownCallback("unused")]
        program.fit(way, steps, [*watch, probe])
    begins, ends = (probe.nanoseconds[offset::2][SETTLED:] for offset in (0, 1))
    return (statistics.median(begins) + statistics.median(ends)) / 1e3


def loop_block(program: CustomLoop, way: Way, steps: int) -> float:
    """Microseconds that the fetch and both ends of a step take."""
    now = time.perf_counter_ns
    parts: tuple[Times, Times, Times] = [], [], []
    train = program.functions[way]
    with monitored(way):
        batches = iter(program.data if way.disable is None else tbslow.data(program.data))
        for _ in range(steps):
            asked = now()
            x, y = next(batches)
            fetched = now()
            if way.disable is None:
                entered = fetched
                train(x, y)
                left = ended = now()
            else:
                with tbslow.summary.step():
                    entered = now()
                    train(x, y)
                    left = now()
                ended = now()
            for part, took in zip(
                parts, (fetched - asked, entered - fetched, ended - left), strict=True
            ):
                part.append(took)
    return sum(statistics.median(part[SETTLED:]) for part in parts) / 1e3


def added(block: Callable[[Way], float], ways: Sequence[Way], base: Way, turns: int) -> Times:
    """For each way the median of what it takes more than `base` right before it."""
    differences: list[Times] = [[] for _ in ways]
    for _ in range(turns):
        for found, way in zip(differences, ways, strict=True):
            without = block(base)
            found.append(block(way) - without)
    return [statistics.median(found) for found in differences]


def sample_costs(program: KerasFit, way: Way, steps: int) -> dict[str, Times]:
    """CPU microseconds of each reading of each collector, while a fit trains."""
    found: dict[str, Times] = defaultdict(list)
    read = collection.Collection._read

    def timed(self: Any, name: str, collector: Any, method: str) -> Any:
        began = time.thread_time_ns()
        values = read(self, name, collector, method)
        if hasattr(collector, method):
            found[name].append((time.thread_time_ns() - began) / 1e3)
        return values

    kept = schedule.sample_seconds, schedule.affordable_seconds
    collection.Collection._read = timed  # type: ignore[method-assign]
    schedule.sample_seconds = lambda _: SAMPLE_SECONDS
    schedule.affordable_seconds = lambda _: 0.0
    try:
        with monitored(way):
            program.fit(way, steps, [tbslow.keras.SlowdownCallback("unused")])
    finally:
        collection.Collection._read = read  # type: ignore[method-assign]
        schedule.sample_seconds, schedule.affordable_seconds = kept
    return found


def hold_data_ready() -> None:
    """Has `tf.data` iterators give one batch again and again: waiting would hide what is timed."""
    from tensorflow.python.data.ops import iterator_ops

    fetch, kept = iterator_ops.OwnedIterator._next_internal, {}

    def again(iterator: Any) -> Any:
        if not tf.executing_eagerly():
            return fetch(iterator)
        if iterator.element_spec not in kept:
            kept[iterator.element_spec] = fetch(iterator)
        return kept[iterator.element_spec]

    iterator_ops.OwnedIterator._next_internal = again


def main() -> None:
    """Prints a line for each collector."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--turns", type=int, default=7)
    arguments.add_argument("--steps", type=int, default=60, help="of a block")
    chosen = arguments.parse_args()
    tf.get_logger().setLevel("ERROR")
    hold_data_ready()
    known = tuple(collector.name for collector in registry.create())
    plain, nothing, all_on = Way("plain", None), Way("none", known), Way("all", ())
    single = [Way(name, tuple(n for n in known if n != name)) for name in known]
    fit, loop = KerasFit(*PROGRAMS["fit"]), CustomLoop(*PROGRAMS["loop"])
    print(
        f"TensorFlow {tf.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}, default threads"
    )
    columns = {}
    # The loop first: once a graph of the process fetches, its sums are asked in loops as well.
    for block, program in ((loop_block, loop), (fit_block, fit)):
        program.trace(all_on, FIRST_STEPS)
        for way in (plain, nothing, *single):  # one function: what is timed lies outside
            program.functions[way] = program.functions[all_on]

        def measure(way: Way, block: Any = block, program: Any = program) -> float:
            return block(program, way, chosen.steps)

        (monitor,) = added(measure, [nothing], plain, 2 * chosen.turns)
        columns[block] = [monitor, *added(measure, [*single, all_on], nothing, chosen.turns)]
    samples = sample_costs(fit, all_on, 10 * chosen.steps)
    print("collector                us a step: fit     loop    us a sample: median  most")
    for index, name in enumerate(("none: the steps", *known, "all of them")):
        readings = samples.get(name)
        print(
            f"{name:24} {columns[fit_block][index]:14.1f} {columns[loop_block][index]:8.1f} "
            + (f"{statistics.median(readings):19.0f} {max(readings):6.0f}" if readings else "")
        )


if __name__ == "__main__":
    main()
