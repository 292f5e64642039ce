"""Whether a thread waits for another one: for a lock, a queue, a process, or until it is time.

Python shows where it is, Linux whether it sleeps there. A thread that waits for the
interpreter's lock sleeps, too, but never for longer than it asked for.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Final, Literal

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed, package_of
from tb_slowdown_plugin.collectors.timing.slowdown_detector import native_id_of

Wait = Literal["", "inside", "alone"]
"""Not; inside of one of Python's own modules for it; or in the program's own line, of which only
an idle process tells that it is no computation in other threads."""

Frames = Callable[[], Mapping[int, FrameType]]
"""What gives the innermost frame of each thread."""

_MODULES: Final = frozenset(
    {"asyncio", "concurrent", "multiprocessing", "queue", "selectors", "socket", "ssl",
     "subprocess", "threading"}
)  # fmt: skip
_LOOKS: Final = 3
"""That must find the same: a thread that hands the interpreter's lock over sleeps for a moment, in
one look of 50 at a thread that computes. Each look gives the lock away."""
_APART_SECONDS: Final = 5e-4
"""Between two looks: else a thread that gets no core is seen in the same moment again."""
_FUTEX: Final = {"x86_64": 202, "aarch64": 98}
_SLEEPS: Final = {
    "x86_64": frozenset({0, 7, 23, 35, 45, 47, 61, 202, 220, 230, 232, 247, 270, 271, 281}),
    "aarch64": frozenset({22, 63, 72, 73, 95, 98, 101, 115, 192, 207, 212, 260}),
}
"""Numbers of the calls of Linux in which a thread sleeps until another one, or the clock, ends it:
read, poll, select, nanosleep, recv, wait, futex, semop, epoll."""
_TIMERS: Final = {"x86_64": frozenset({35, 230}), "aarch64": frozenset({101, 115})}


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
    for _ in range(_LOOKS - 1):
        if not found:
            break
        time.sleep(_APART_SECONDS)
        if _look(thread, frames, read or read_call) != found:
            return ""
    return found


def _look(thread: int, frames: Frames, read: Callable[[int], list[str]]) -> Wait:
    frame = frames().get(thread)
    if frame is None:
        return ""
    at = frame.f_lasti
    call = read(thread)
    if frames().get(thread) is not frame or frame.f_lasti != at:
        return ""  # it went on while Linux was asked
    machine = platform.machine()
    number = int(call[0]) if call and call[0].isdigit() else -1
    if number not in _SLEEPS.get(machine, ()):
        return ""
    if is_installed(frame.f_code.co_filename):
        return "inside" if package_of(frame) in _MODULES and _is_called_by_program(frame) else ""
    for_ever = number == _FUTEX.get(machine) and len(call) > 4 and int(call[4], 16) == 0
    return "alone" if for_ever or number in _TIMERS.get(machine, ()) else ""


def _is_called_by_program(frame: FrameType) -> bool:
    """Not by TensorFlow or another package, whose threads may compute meanwhile."""
    caller: FrameType | None = frame
    while caller is not None and package_of(caller) in sys.stdlib_module_names:
        caller = caller.f_back
    return caller is not None and not is_installed(caller.f_code.co_filename)


def read_call(thread: int) -> list[str]:
    """Number and arguments of the call of Linux that a thread is in; empty where it computes."""
    try:
        return Path(f"/proc/self/task/{native_id_of(thread)}/syscall").read_text().split()
    except OSError:
        return []
