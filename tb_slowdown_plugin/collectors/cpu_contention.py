"""Whether the process gets the cores that it wants: run queue, quota, affinity.

Cost: 7 to 25 us a thread of the process and sample, in the background; TensorFlow
has tens to hundreds of threads, so the threads other than the training thread
are left out of samples where they would take more than 0.5 % of a core.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors import cgroup
from tb_slowdown_plugin.collectors.base import Context, Unavailable

_PATIENCE: Final = 200
"""After reading all threads took t seconds of CPU they rest for 200 t: 0.5 % of a core. On a
busy machine the wall time would be many times as long, just when samples are needed."""


class CpuContention:
    """Samples what the kernel counts of threads that are ready but do not run.

    Wall time minus CPU time would not tell: TensorFlow's thread pools make it
    negative, and waiting for data is no contention.
    """

    name = "cpu_contention"
    in_background = True

    def __init__(self, root: Path = cgroup.ROOT) -> None:
        self._root = root

    def start(self, context: Context) -> None:
        """Looks which of the kernel's files there are.

        Raises:
          Unavailable: The kernel does not count run-queue delay.
        """
        if not sys.platform.startswith("linux"):
            raise Unavailable(f"run-queue delay is counted by Linux; this is {sys.platform}")
        self._tasks = self._root / "proc/self/task"
        if not any(self._tasks.glob("*/schedstat")):
            raise Unavailable("this kernel counts no run-queue delay (no schedstat)")
        self._clock = context.clock
        self._stopwatch = context.stopwatch
        self._cpu_stat = cgroup.find_file("cpu", "cpu.stat", "cpu.stat", self._root)
        self._seen: dict[str, int] = {}
        self._delay_ns = 0
        self._rest_until_ns = 0

    def read(self) -> Mapping[str, float]:
        """Cumulative run-queue delay, throttling, and the number of cores allowed."""
        values = {}
        own_delay = _read_task(f"{self._tasks}/{self._training_thread()}")
        if own_delay is not None:
            values["thread_run_delay_seconds"] = own_delay / 1e9
        if self._clock.monotonic_ns() >= self._rest_until_ns:
            began = self._clock.thread_cpu_ns()
            values["run_delay_seconds"] = self._read_delay_ns() / 1e9
            took = self._clock.thread_cpu_ns() - began
            self._rest_until_ns = self._clock.monotonic_ns() + _PATIENCE * took
        if self._cpu_stat is not None:
            with contextlib.suppress(OSError):
                values.update(throttled(self._cpu_stat.read_text()))
        if hasattr(os, "sched_getaffinity"):
            values["allowed_cores"] = len(os.sched_getaffinity(0))
        return values

    def stop(self) -> None:
        """Nothing is hooked."""

    def _read_delay_ns(self) -> int:
        """The sum over all threads that ever ran; one that has ended keeps its share."""
        seen = {}
        tasks = str(self._tasks)
        for task in os.listdir(tasks):  # noqa: PTH208 - `pathlib` takes three times as long
            delay = _read_task(f"{tasks}/{task}")
            if delay is not None:
                seen[task] = delay
                self._delay_ns += max(0, delay - self._seen.get(task, 0))
        self._seen = seen
        return self._delay_ns

    def _training_thread(self) -> str:
        for thread in threading.enumerate():
            if thread.ident == self._stopwatch.thread:
                return str(thread.native_id)
        return ""


def run_delay_ns(schedstat: str) -> int:
    """Nanoseconds for which a thread waited for a core: the second field of `schedstat`.

    Example:
      >>> run_delay_ns("2415236754 83920475 9127")
      83920475
    """
    return int(schedstat.split()[1])


def throttled(cpu_stat: str) -> dict[str, float]:
    r"""How long the group's quota stopped it, from `cpu.stat` of either version; {} without.

    Example:
      >>> throttled("usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000")
      {'throttled_seconds': 2.5}
      >>> throttled("nr_periods 9\nnr_throttled 3\nthrottled_time 2500000000")
      {'throttled_seconds': 2.5}
    """
    counted = dict(line.split() for line in cpu_stat.splitlines())
    for field, per_second in (("throttled_usec", 1e6), ("throttled_time", 1e9)):
        if field in counted:
            return {"throttled_seconds": int(counted[field]) / per_second}
    return {}


def _read_task(task: str) -> int | None:
    try:
        file = os.open(f"{task}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return run_delay_ns(os.read(file, 128).decode())
        finally:
            os.close(file)
    except OSError:  # it has ended
        return None
