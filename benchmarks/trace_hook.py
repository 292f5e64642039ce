"""What the trace hook costs: on a call of a `tf.function` without a trace, and on a trace.

Blocks with and without the collector alternate in one process, so that what
disturbs one disturbs the other. Run `python benchmarks/trace_hook.py`.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector

BLOCKS = 60
CALLS_PER_BLOCK = 200
TRACES_PER_BLOCK = 10


def time_block(call: Callable[[int], None], times: int) -> float:
    """CPU microseconds of one call: other processes do not count."""
    began = time.process_time_ns()
    for index in range(times):
        call(index)
    return (time.process_time_ns() - began) / times / 1e3


def compare(call: Callable[[int], None], times: int) -> tuple[float, float]:
    """Median CPU microseconds of one call, without and with the collector."""
    clock = Clock()
    stopwatch = Stopwatch(clock.monotonic_ns)
    stopwatch.claim()
    context = Context(clock, stopwatch, emit=lambda _: None, report_failure=print)
    without, watched = [], []
    for _ in range(BLOCKS):
        without.append(time_block(call, times))
        collector = TraceCollector()
        collector.start(context)
        watched.append(time_block(call, times))
        collector.stop()
    return statistics.median(without), statistics.median(watched)


def main() -> None:
    """Prints both costs."""
    tf.get_logger().setLevel("ERROR")
    x = tf.ones((8, 8))
    steady = tf.function(lambda x: x + 1, autograph=False)
    steady(x)
    without, watched = compare(lambda _: steady(x), CALLS_PER_BLOCK)
    print(f"call without a trace: {without:.1f} us, with the hook {watched:.1f} us")

    def trace(index: int) -> None:
        tf.function(lambda x, scale: x * scale, autograph=False)(x, index)

    without, watched = compare(trace, TRACES_PER_BLOCK)
    print(f"call with a trace: {without:,.0f} us, with the hook {watched:,.0f} us")


if __name__ == "__main__":
    main()
