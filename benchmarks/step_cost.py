"""What one `with tbslow.summary.step()` costs, next to one `tf.summary.scalar`.

Both are timed in alternating blocks of one process, with all default collectors
on and the background thread at work, so that whatever disturbs one disturbs the
other. Run `python benchmarks/step_cost.py`; it exits with 1 where the promise
(at most 3 us median, at least 45 times less than a scalar) is not kept.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import tbslow

BLOCKS = 300
STEPS_PER_BLOCK = 100
SCALARS_PER_BLOCK = 20
MOST_MICROSECONDS = 3.0
LEAST_RATIO = 45.0


def time_block(call: Callable[[int], None], times: int, first: int) -> float:
    """Median microseconds of one call, over a block."""
    clock = time.perf_counter_ns
    began = clock()
    for number in range(first, first + times):
        call(number)
    return (clock() - began) / times / 1e3


def nothing(number: int) -> None:
    """The loop and the call themselves."""


def step(number: int) -> None:
    """One empty step."""
    with tbslow.summary.step(number):
        pass


def fetch_and_step(number: int) -> None:
    """One empty step that is fed by `tbslow.data`."""
    next(batches)
    with tbslow.summary.step(number):
        pass


def scalar(number: int) -> None:
    """One scalar to the default writer."""
    tf.summary.scalar("loss", 1.0, step=number)


batches = iter(tbslow.data(range(1 << 40)))


def main() -> int:
    """Prints the medians; 1 where the promise is not kept."""
    times: dict[str, list[float]] = {"nothing": [], "step": [], "data and step": [], "scalar": []}
    with tempfile.TemporaryDirectory() as logdir:
        writer = tf.summary.create_file_writer(logdir)
        with writer.as_default(), tbslow.start(logdir):
            for block in range(BLOCKS):
                first = block * STEPS_PER_BLOCK
                times["nothing"].append(time_block(nothing, STEPS_PER_BLOCK, first))
                times["step"].append(time_block(step, STEPS_PER_BLOCK, first))
                times["scalar"].append(time_block(scalar, SCALARS_PER_BLOCK, first))
                times["data and step"].append(time_block(fetch_and_step, STEPS_PER_BLOCK, first))
    loop = statistics.median(times["nothing"])
    cost = {name: statistics.median(found) - loop for name, found in times.items()}
    ratio = cost["scalar"] / cost["step"]
    print(f"TensorFlow {tf.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    print(f"with tbslow.summary.step()   {cost['step']:8.2f} us median of {BLOCKS} blocks")
    print(f"  with a tbslow.data fetch   {cost['data and step']:8.2f} us")
    print(f"tf.summary.scalar            {cost['scalar']:8.2f} us")
    print(f"a scalar costs               {ratio:8.1f} times a step")
    kept = cost["step"] <= MOST_MICROSECONDS and ratio >= LEAST_RATIO
    print("kept" if kept else "NOT KEPT", f"(<= {MOST_MICROSECONDS} us, >= {LEAST_RATIO} times)")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
