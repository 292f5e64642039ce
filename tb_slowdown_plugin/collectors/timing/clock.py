"""The clocks of the training process, as one value that a test can replace."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """Where all times come from; nothing else in the training process reads a clock.

    Example:
      >>> Clock(monotonic_ns=lambda: 5_000).monotonic_ns()
      5000
    """

    monotonic_ns: Callable[[], int] = time.perf_counter_ns
    process_cpu_ns: Callable[[], int] = time.process_time_ns
    thread_cpu_ns: Callable[[], int] = time.thread_time_ns
    """CPU time of the calling thread."""
    unix_seconds: Callable[[], float] = time.time
