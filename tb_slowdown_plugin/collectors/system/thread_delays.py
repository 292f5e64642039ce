"""How long the threads of this process waited for a core, by the kernel's count.

The file of a thread is kept open: reading it takes 1 to 2 us so, and 6 to 20 us with its path.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.timing.slowdown_detector import native_id_of

_SHARE_OF_FILES: Final = 8
"""At most one in so many of the files that the process may have open are ours."""

_MOST_OPEN: Final = 512

_LINKS: Final = 2
"""Of a directory without any in it; the kernel counts each thread as one more."""

_SLEEP_NS: Final = 900_000_000
"""A thread that has not run since it was read last is left alone for so long: of the threads of
TensorFlow's pools most sleep. What one waits after that is told as much later."""


@dataclass(slots=True)
class _Thread:
    """What is known of one thread."""

    file: int | None
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
        self._directory = os.open(tasks, os.O_RDONLY | os.O_CLOEXEC)
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
        if os.fstat(self._directory).st_nlink != len(self._threads) + _LINKS:
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
        os.close(self._directory)

    def _list_threads(self) -> None:
        names = set(os.listdir(self._directory))  # noqa: PTH208, open already
        for name in self._threads.keys() - names:
            self._forget(name)
        for name in names - self._threads.keys():
            is_kept = len(self._threads) < self._most_open
            self._threads[name] = _Thread(self._open(name) if is_kept else None)

    def _forget(self, name: str) -> None:
        file = self._threads.pop(name).file
        if file is not None:
            os.close(file)

    def _open(self, name: str) -> int | None:
        try:
            return os.open(f"{self._tasks}/{name}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
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
            return os.pread(file, 128, 0)
        except OSError:
            return b""
        finally:
            if kept is None:
                os.close(file)


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
