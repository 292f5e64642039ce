"""Where each thread of the program is, as places that may stand in a logdir."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

from tb_slowdown_plugin.collectors.hooks.installed_code import (
    calling_frame,
    package_of,
    program_frame,
)
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.python.still_frames import Stack, find_frames, stack_of

OWN_THREADS: Final = "tbslow"
"""How the names of the monitor's threads begin."""
_DEBUGGERS: Final = frozenset({"bdb", "pdb", "ipdb", "pudb", "pydevd", "_pydevd_bundle", "debugpy"})
_TASKS: Final = Path("/proc/self/task")


class ThreadPlaces(NamedTuple):
    """The threads of the program at one moment."""

    training: str
    """Function and line of the training thread: "fetch (data.py:88)"."""
    others: Mapping[str, int]
    """Place -> other threads there; without threads that run none of the program's functions."""
    threads: int
    """Other threads of the process in total, those of TensorFlow included."""


def find_thread_places(
    training: int,
    *,
    is_in_step: bool,
) -> ThreadPlaces | None:
    """Finds the innermost line of the program on each thread's stack. Reads no values.

    Args:
      training: The training thread, as `threading.get_ident()`.
      is_in_step: Whether a step is open: then a package that trains counts as the program, too.
        Between steps it could be a notebook that waits for its user.

    Returns:
      None where the training thread isn't in the program, or is stopped in a debugger.
    """
    show = find_frames()
    found = {thread: stack_of(frame) for thread, frame in show().items()} if show else {}
    stack = found.get(training, ())
    if not stack or _is_in_debugger(stack):
        return None
    frame = program_frame(stack) or (calling_frame(stack[0]) if is_in_step else None)
    if frame is None:
        return None
    places = SourcePlaces.of_process()
    return ThreadPlaces(
        places.in_code(frame.f_code, line_of(frame)),
        places_of_others(training, found, places),
        _count_threads() - 1 - len(_own_threads()),
    )


def places_of_others(
    training: int, found: Mapping[int, Stack], places: SourcePlaces
) -> Counter[str]:
    """Place -> other threads there; without threads that run none of the program's functions."""
    own = _own_threads()
    others: Counter[str] = Counter()
    for ident, stack in found.items():
        frame = None if ident == training or ident in own else program_frame(stack)
        if frame is not None:
            others[places.in_code(frame.f_code, line_of(frame))] += 1
    return others


def _own_threads() -> set[int | None]:
    return {each.ident for each in threading.enumerate() if each.name.startswith(OWN_THREADS)}


def _is_in_debugger(stack: Stack) -> bool:
    return any(package_of(frame) in _DEBUGGERS for frame in stack)


def _count_threads() -> int:
    try:
        return sum(1 for _ in _TASKS.iterdir())
    except OSError:
        return threading.active_count()
