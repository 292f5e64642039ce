"""Whether a thread waits: for a lock, a queue, a process, until it is time, or for a disk.

Python shows where it is, Linux whether it sleeps there. A thread that waits for the
interpreter's lock sleeps, too, but never for longer than it asked for.
"""

from __future__ import annotations

import linecache
import os
import platform
import re
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Final, Literal, NamedTuple

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed, package_of
from tb_slowdown_plugin.collectors.hooks.source_location import line_of
from tb_slowdown_plugin.collectors.python.still_frames import Frames, stack_of
from tb_slowdown_plugin.collectors.timing.thread_files import read_thread_file

Wait = Literal["", "briefly", "inside", "paused", "alone", "outside", "writing"]
"""Not; for a moment, which may be to hand the interpreter's lock over; inside of one of Python's
own modules for it, or in a line that takes a lock; until a time has passed (`time.sleep`); in the
program's own line, of which only an idle process tells that it is no computation in other threads;
for what another process sends; or until a file is written, what it takes to compute what is in it
included."""

_MODULES: Final = frozenset(
    {"asyncio", "concurrent", "multiprocessing", "queue", "selectors", "socket", "ssl",
     "subprocess", "threading"}
)  # fmt: skip
_LOOKS: Final = 3
"""That must find the same where it may be the interpreter's lock: a thread that hands it over
sleeps for a moment, in one look of 50 at a thread that computes. Each look gives the lock away."""
_APART_SECONDS: Final = 5e-4
"""Between two looks: else a thread that gets no core is seen in the same moment again."""
_SETTLING_SECONDS: Final = 2e-4
"""How long this thread then keeps the interpreter's lock. A thread that has just lost it sleeps
without a limit until it has noticed (100 us on a virtual machine), and with one from then on."""
_FUTEX: Final = {"x86_64": 202, "aarch64": 98}
_SLEEPS: Final = {
    "x86_64": frozenset({0, 7, 23, 35, 45, 47, 61, 202, 220, 230, 232, 247, 270, 271, 281}),
    "aarch64": frozenset({22, 63, 72, 73, 95, 98, 101, 115, 192, 207, 212, 260}),
}
"""Numbers of the calls of Linux in which a thread sleeps until another one, or the clock, ends it:
read, poll, select, nanosleep, recv, wait, futex, semop, epoll."""
_PAUSES: Final = {"x86_64": frozenset({35, 230}), "aarch64": frozenset({101, 115})}
"""Those of them that end when a time has passed: nanosleep, clock_nanosleep."""
_READ: Final = {"x86_64": 0, "aarch64": 63}
_CONNECTIONS: Final = {
    "x86_64": frozenset({7, 23, 45, 47, 232, 270, 271, 281}),
    "aarch64": frozenset({22, 72, 73, 207, 212}),
}
"""Those of them that wait for what is sent: poll, select, recv, epoll; `read` of a pipe, too."""
WRITING_CALLS: Final = {
    "x86_64": frozenset({1, 18, 20, 26, 40, 74, 75, 162, 277, 296, 306, 328}),
    "aarch64": frozenset({64, 66, 68, 70, 71, 81, 82, 83, 84, 267, 287}),
}
"""Numbers of those that write, or wait until something is written: write, fsync, fdatasync ..."""
_FLUSHES: Final = re.compile(r"\b(?:commit|fdatasync|flush|fsync|pickle\.dump)\s*\(")
"""Calls that return when a file is written. On a fast disk they compute in Linux, mostly, which
then doesn't show what they do: the program's line does."""
_TAKES_LOCK: Final = re.compile(
    r"\bwith\b.*?(?:\b|_|(?<=[a-z])(?=[A-Z]))"
    r"(?i:cond|condition|guard|r?lock|mutex|sem|semaphore)(?:_\w+|\d+)?"
    r"\s*(?:\(\s*\)\s*)?[:,]|\.acquire\(",
)
"""A line that waits for a lock of the program's own, as its names say: no library computes there in
threads of its own."""
_SAVERS: Final = frozenset(
    {"gzip", "h5py", "json", "logging", "numpy", "pandas", "PIL", "sqlite3", "zipfile"}
)
_SAVES: Final = re.compile(r"_?(?:dump|emit|save\w*|to_(?:csv|json|parquet|pickle)|write\w*)")
"""Functions of those packages that write a file, and compute what is in it."""
_RUNS_GRAPHS: Final = "/tensorflow/python/eager/"
"""From here TensorFlow runs graphs: its own threads compute, or write, and this one waits for them.
Most samples of a training are here, and to ask Linux takes 150 us out of a cold cache."""
_PRINTS: Final = re.compile(r"\bstd(?:out|err)\b")
_TERMINAL: Final = frozenset({"0x1", "0x2"})
"""What a program prints to, as the first argument of a call that writes."""


class _Look(NamedTuple):
    """What one look has found."""

    wait: Wait
    is_sure: bool = True
    """No thread hands a lock over in such a call, so one look is enough."""


_GOES_ON: Final = _Look("")


def _is_connection(descriptor: int) -> bool:
    """Whether what is read comes from a pipe or a socket, and not from a file."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").startswith(("pipe:", "socket:"))  # noqa: PTH115
    except OSError:  # closed
        return False


def find_wait(
    thread: int,
    frames: Frames,
    read: Callable[[int], list[str]] | None = None,
) -> Wait:
    """Whether a thread waits.

    Args:
      thread: As `threading.get_ident()`.
      frames: The innermost frame of each thread.
      read: The call of Linux that the thread is in and what it was given, as text.
    """
    found = _look(thread, frames, read or read_call)
    for _ in range(0 if found.is_sure else _LOOKS - 1):
        time.sleep(_APART_SECONDS)
        _keep_lock(_SETTLING_SECONDS)
        if _look(thread, frames, read or read_call) != found:
            return "briefly"
    return found.wait


def _keep_lock(seconds: float) -> None:
    """Computes: whoever sleeps gives the interpreter's lock away."""
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass


def _look(thread: int, frames: Frames, read: Callable[[int], list[str]]) -> _Look:
    stack = stack_of(frames().get(thread))
    if not stack or _RUNS_GRAPHS in stack[0].f_code.co_filename:
        return _GOES_ON
    frame = stack[0]
    if _is_flushing(frame) or _is_saving(frame):
        return _Look("writing")
    at = frame.f_lasti
    call = read(thread)
    if frames().get(thread) is not frame or frame.f_lasti != at:
        return _GOES_ON  # while Linux was asked
    machine = platform.machine()
    number = int(call[0]) if call and call[0].isdigit() else -1
    if number in WRITING_CALLS.get(machine, ()):
        return _GOES_ON if _TERMINAL.intersection(call[1:2]) else _Look("writing")
    if number not in _SLEEPS.get(machine, ()):
        return _GOES_ON
    is_lock, is_read = number == _FUTEX.get(machine), number == _READ.get(machine)
    is_library = is_installed(frame.f_code.co_filename)
    is_sure = not (is_lock or is_read)
    if is_library and package_of(frame) in _MODULES and _is_called_by_program(frame):
        return _Look("inside", is_sure)
    if number in _PAUSES.get(machine, ()) and _is_called_by_program(frame):
        return _Look("paused")
    if number in _CONNECTIONS.get(machine, ()):
        return _Look("outside")
    if is_read and call[1:] and _is_connection(int(call[1], 16)):
        return _Look("outside", is_sure)
    if not is_lock:
        return _Look("alone", is_sure)
    for_ever = len(call) > 4 and int(call[4], 16) == 0
    if not for_ever or is_library:
        return _GOES_ON
    return _Look("inside" if _TAKES_LOCK.search(_line_of(frame)) else "alone", is_sure)


def _is_flushing(frame: FrameType) -> bool:
    """Whether the innermost frame is in a line of the program that writes what is buffered."""
    if is_installed(frame.f_code.co_filename):
        return False
    line = _line_of(frame)
    return bool(_FLUSHES.search(line)) and not _PRINTS.search(line)


def _line_of(frame: FrameType) -> str:
    return linecache.getline(frame.f_code.co_filename, line_of(frame))


def _is_saving(innermost: FrameType) -> bool:
    """Whether the program has called a library's function that writes a file."""
    frame: FrameType | None = innermost
    while frame is not None and is_installed(frame.f_code.co_filename):
        if package_of(frame) in _SAVERS and _SAVES.fullmatch(frame.f_code.co_name):
            return True
        frame = frame.f_back
    return False


def _is_called_by_program(frame: FrameType) -> bool:
    """Not by TensorFlow or another package, whose threads may compute meanwhile."""
    caller: FrameType | None = frame
    while caller is not None and package_of(caller) in sys.stdlib_module_names:
        caller = caller.f_back
    return caller is not None and not is_installed(caller.f_code.co_filename)


def read_call(thread: int) -> list[str]:
    """Number and arguments of the call of Linux that a thread is in; empty where it computes."""
    try:
        return read_thread_file(thread, "syscall").decode().split()
    except OSError:
        return []
