"""Whether the process gets the cores that it wants: run queue, quota, affinity.

Cost: 2 to 3 us a thread of the process and sample, in the background; 7 to 25 us for each
thread beyond those whose file is kept open. TensorFlow has tens to hundreds of threads, so
those other than the training thread are left out of samples where they would take more than
0.5% of a core.

The run queue is the kernel's count of how long each thread waited for a core. The file of a thread
is kept open: reading it takes 2 to 3 us so, and 6 to 20 us with its path.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.system import kernel_files
from tb_slowdown_plugin.collectors.system.kernel_files import (
    KernelFile,
    open_if_there,
)
from tb_slowdown_plugin.collectors.timing.thread_files import native_id_of

_PATIENCE: Final = 200
"""After reading all threads took t seconds of CPU they rest for 200 t: 0.5% of a core. On a
busy machine the wall time would be many times as long, just when samples are needed."""

_SHARE_OF_FILES: Final = 8
"""At most one in so many of the files that the process may have open are ours."""

_MOST_OPEN: Final = 512

_SCHEDSTAT_BYTES: Final = 128

_LINKS: Final = 2
"""Of a directory without any in it; the kernel counts each thread as one more."""

_SLEEP_NS: Final = 900_000_000
"""A thread that has not run since it was read last is left alone for so long: of the threads of
TensorFlow's pools most sleep. What one waits after that is told as much later."""


class CpuContention:
    """Samples what the kernel counts of threads that are ready but do not run.

    Wall time minus CPU time would not tell: TensorFlow's thread pools make it
    negative, and waiting for data is no contention.
    """

    name = "cpu_contention"
    in_background = True

    def __init__(self, root: Path = kernel_files.ROOT) -> None:
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
            raise Unavailable("this kernel doesn't count run-queue delay (no schedstat)") from error
        self._clock = context.clock
        self._stopwatch = context.stopwatch
        self._cpu_stat: KernelFile | None = open_if_there(
            kernel_files.find_file("cpu", "cpu.stat", "cpu.stat", self._root)
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


@dataclass(slots=True)
class _Thread:
    """What is known of one thread."""

    file: KernelFile | None
    """None where it is not kept open."""
    said: bytes = b""
    delay_ns: int = 0
    sleeps_until_ns: int = 0


class ThreadDelays:
    """Reads `schedstat` of each thread.

    Args:
      tasks: The directory with one of each thread, `/proc/self/task`.

    Raises:
      OSError: The kernel does not count the delay.
    """

    def __init__(self, tasks: Path) -> None:
        self._tasks = str(tasks)
        self._directory = KernelFile(tasks)
        self._threads: dict[str, _Thread] = {}
        self._delay_ns = 0
        self._own = (0, "")
        self._most_open = _find_most_open()
        self._list_threads()
        if not any(self._read(name) for name in self._threads):
            self.close()
            raise FileNotFoundError(f"no schedstat in {tasks}")

    def read_all(self, now_ns: int) -> int:
        """Nanoseconds of all threads that ever ran; one that has ended keeps its share.

        Args:
          now_ns: Any monotonic clock.
        """
        if os.fstat(self._directory.descriptor()).st_nlink != len(self._threads) + _LINKS:
            self._list_threads()
        for name, thread in list(self._threads.items()):
            if now_ns < thread.sleeps_until_ns:
                continue
            says = self._read(name)
            if says == thread.said:
                thread.sleeps_until_ns = now_ns + _SLEEP_NS
            elif not says:
                self._forget(name)
            else:
                delay_ns = run_delay_ns(says)
                self._delay_ns += max(0, delay_ns - thread.delay_ns)
                thread.said, thread.delay_ns = says, delay_ns
        return self._delay_ns

    def read_one(self, ident: int) -> int | None:
        """Nanoseconds of one thread; None where it is not there.

        Args:
          ident: As `threading.get_ident()`.
        """
        known, name = self._own
        says = self._read(name) if known == ident else b""
        if not says:  # another one, or this one has ended
            native = native_id_of(ident)
            name = "" if native is None else str(native)
            self._own = ident, name
            says = self._read(name)
        return run_delay_ns(says) if says else None

    def close(self) -> None:
        """Closes the kernel's files."""
        for name in list(self._threads):
            self._forget(name)
        self._directory.close()

    def _list_threads(self) -> None:
        names = set(os.listdir(self._directory.descriptor()))  # noqa: PTH208, open already
        for name in self._threads.keys() - names:
            self._forget(name)
        for name in names - self._threads.keys():
            is_kept = len(self._threads) < self._most_open
            self._threads[name] = _Thread(self._open(name) if is_kept else None)

    def _forget(self, name: str) -> None:
        file = self._threads.pop(name).file
        if file is not None:
            file.close()

    def _open(self, name: str) -> KernelFile | None:
        try:
            return KernelFile(f"{self._tasks}/{name}/schedstat", _SCHEDSTAT_BYTES)
        except OSError:  # it has ended
            return None

    def _read(self, name: str) -> bytes:
        """What the kernel says of it; nothing where it has ended."""
        thread = self._threads.get(name)
        kept = None if thread is None else thread.file
        file = self._open(name) if kept is None else kept
        if file is None:
            return b""
        try:
            return file.read_bytes()
        except OSError:
            return b""
        finally:
            if kept is None:
                file.close()


def run_delay_ns(schedstat: bytes) -> int:
    """Nanoseconds for which a thread waited for a core: the second field of `schedstat`.

    Example:
      >>> run_delay_ns(b"2415236754 83920475 9127")
      83920475
    """
    return int(schedstat.split()[1])


def _find_most_open() -> int:
    import resource  # Unix only

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if allowed == resource.RLIM_INFINITY:
        return _MOST_OPEN
    return min(allowed // _SHARE_OF_FILES, _MOST_OPEN)
