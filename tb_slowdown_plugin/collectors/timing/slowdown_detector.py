"""Whether steps take longer than they once did, told from a count and two clocks.

Cost: 1 us a note; 20 us for the CPU time of another thread, 40 us out of a cold cache.
"""

from __future__ import annotations

import os
import threading
from typing import Final, NamedTuple

_NOTES: Final = 5

_STEPS: Final = 20
"""Notes and steps that a pace is taken over; fewer say little of a step."""

_SLOWER: Final = 1.15
"""A pace is slower from 15 % above the best one: below that it is noise (facts/detection.md)."""


class _Note(NamedTuple):
    steps: int
    wall_ns: int
    cpu_ns: int | None


class StepPace:
    """Compares the time a step takes now with the best stretch so far.

    Example:
      >>> pace = StepPace()
      >>> for second in range(20):
      ...     pace.note(10 * second, 10**9 * second, None)
      >>> pace.is_slower
      False
      >>> for second in range(20):
      ...     pace.note(190 + 8 * second, 10**9 * (19 + second), None)
      >>> pace.is_slower
      True
    """

    def __init__(self) -> None:
        self._began: _Note | None = None
        self._notes = 0
        self._best_wall_ns = self._best_cpu_ns = float("inf")
        self.is_slower = False
        """Whether the last whole stretch was slower than the best, in wall or CPU time."""

    def note(self, steps: int, wall_ns: int, cpu_ns: int | None) -> None:
        """Adds what is known at one moment.

        Args:
          steps: Steps finished.
          wall_ns: Any monotonic clock.
          cpu_ns: CPU time of the training thread, None where it can't be read.
        """
        now = _Note(steps, wall_ns, cpu_ns)
        began = self._began
        if began is None:
            self._began = now
            return
        self._notes += 1
        done = steps - began.steps
        if self._notes < _NOTES or done < _STEPS:
            return
        self._began, self._notes = now, 0
        wall = (wall_ns - began.wall_ns) / done
        self._best_wall_ns = min(self._best_wall_ns, wall)
        self.is_slower = wall > _SLOWER * self._best_wall_ns
        if cpu_ns is not None and began.cpu_ns is not None:
            cpu = (cpu_ns - began.cpu_ns) / done
            self._best_cpu_ns = min(self._best_cpu_ns, cpu)
            self.is_slower |= cpu > _SLOWER * self._best_cpu_ns


def cpu_time_of(thread: int) -> int | None:
    """CPU time of a thread of this process in nanoseconds, None where Linux does not tell.

    `time.pthread_getcpuclockid` would do, but crashes for a thread that has ended.

    Args:
      thread: As `threading.get_ident()`.
    """
    try:
        # Half of what `pathlib` takes.
        file = os.open(
            f"/proc/self/task/{native_id_of(thread)}/schedstat", os.O_RDONLY | os.O_CLOEXEC
        )
    except OSError:
        return None
    try:
        return int(os.read(file, 128).split()[0])
    except (OSError, ValueError, IndexError):
        return None
    finally:
        os.close(file)


def native_id_of(ident: int) -> int | None:
    """The kernel's number of a thread of Python's; None where it has ended.

    Args:
      ident: As `threading.get_ident()`.
    """
    return next((t.native_id for t in threading.enumerate() if t.ident == ident), None)
