"""What Linux says of one thread of this process, in `/proc/self/task`.

Cost: 4 us a file; out of the cold cache of a process that trains, 60 us.
"""

from __future__ import annotations

import os
import threading
from typing import Final

_MOST_BYTES: Final = 1024


def native_id_of(ident: int) -> int | None:
    """The kernel's number of a thread of Python's; None where it has ended.

    Args:
      ident: As `threading.get_ident()`.
    """
    if ident == threading.get_ident():
        return threading.get_native_id()
    if ident == threading.main_thread().ident:
        # In a forked child Python 3.11 has still the number of the thread that forked it.
        return os.getpid()
    return next((t.native_id for t in threading.enumerate() if t.ident == ident), None)


def read_thread_file(ident: int, name: str) -> bytes:
    """What one of the files of a thread says now.

    Args:
      ident: As `threading.get_ident()`.
      name: Such as "schedstat" (proc_pid_task(5)).

    Raises:
      OSError: There is no such thread any more, or no such file.
    """
    # Not kept open: it is read seldom, of any thread. One that is kept is a `KernelFile`, which
    # holds even where the program closes it.
    file = os.open(f"/proc/self/task/{native_id_of(ident)}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, _MOST_BYTES)
    finally:
        os.close(file)


def scheduled(ident: int) -> tuple[int, int] | None:
    """Nanoseconds that a thread ran, and waited for a core; None where Linux does not tell.

    Args:
      ident: As `threading.get_ident()`.
    """
    try:
        ran, waited, _ = read_thread_file(ident, "schedstat").split()
        return int(ran), int(waited)
    except (OSError, ValueError):
        return None


def cpu_time_of(ident: int) -> int | None:
    """CPU time of a thread of this process in nanoseconds, None where Linux does not tell.

    `time.pthread_getcpuclockid` would do, but crashes for a thread that has ended.
    """
    times = scheduled(ident)
    return times and times[0]
