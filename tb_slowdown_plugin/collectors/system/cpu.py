"""Whether the process gets the cores that it wants: run queue, quota, affinity.

Cost: 1 to 2 us a thread of the process and sample, in the background; 7 to 25 us for each
thread beyond those whose file is kept open. TensorFlow has tens to hundreds of threads, so
those other than the training thread are left out of samples where they would take more than
0.5 % of a core.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system import kernel_files as cgroup
from tb_slowdown_plugin.collectors.system.kernel_file import KernelFile, open_if_there
from tb_slowdown_plugin.collectors.system.thread_delays import ThreadDelays

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
        try:
            self._threads = ThreadDelays(self._root / "proc/self/task")
        except OSError as error:
            raise Unavailable("this kernel counts no run-queue delay (no schedstat)") from error
        self._clock = context.clock
        self._stopwatch = context.stopwatch
        self._cpu_stat: KernelFile | None = open_if_there(
            cgroup.find_file("cpu", "cpu.stat", "cpu.stat", self._root)
        )
        self._rest_until_ns = 0

    def read(self) -> Mapping[str, float]:
        """Cumulative run-queue delay, throttling, and the number of cores allowed."""
        values = {}
        own_delay = self._threads.read_one(self._stopwatch.thread)
        if own_delay is not None:
            values["thread_run_delay_seconds"] = own_delay / 1e9
        now = self._clock.monotonic_ns()
        if now >= self._rest_until_ns:
            began = self._clock.thread_cpu_ns()
            values["run_delay_seconds"] = self._threads.read_all(now) / 1e9
            took = self._clock.thread_cpu_ns() - began
            self._rest_until_ns = self._clock.monotonic_ns() + _PATIENCE * took
        if self._cpu_stat is not None:
            with contextlib.suppress(OSError):
                values.update(throttled(self._cpu_stat.read()))
        if hasattr(os, "sched_getaffinity"):
            values["allowed_cores"] = len(os.sched_getaffinity(0))
        return values

    def stop(self) -> None:
        """Closes the kernel's files."""
        self._threads.close()
        if self._cpu_stat is not None:
            self._cpu_stat.close()


def throttled(cpu_stat: str) -> dict[str, float]:
    r"""How long the group's quota stopped it, from `cpu.stat` of either version; {} without.

    Example:
      >>> throttled("usage_usec 9\nnr_throttled 3\nthrottled_usec 2500000")
      {'throttled_seconds': 2.5}
      >>> throttled("nr_periods 9\nnr_throttled 3\nthrottled_time 2500000000")
      {'throttled_seconds': 2.5}
    """
    for field, per_second in (("throttled_usec ", 1e6), ("throttled_time ", 1e9)):
        _, found, rest = cpu_stat.partition(field)
        if found:
            return {"throttled_seconds": int(rest.partition("\n")[0]) / per_second}
    return {}
