"""Where each thread of the program is, as places that may stand in a logdir."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

from tb_slowdown_plugin.collectors.hooks.installed_code import calling_frame, is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import SourcePlaces, line_of
from tb_slowdown_plugin.collectors.python.still_frames import without_collections

OWN_THREADS: Final = "tbslow"
"""How the names of the monitor's threads begin."""
_DEBUGGERS: Final = frozenset({"bdb", "pdb", "ipdb", "pudb", "pydevd", "_pydevd_bundle", "debugpy"})
_MAX_FRAMES: Final = 200
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
    frames: Callable[[], Mapping[int, FrameType]] | None = None,
) -> ThreadPlaces | None:
    """Finds the innermost line of the program on each thread's stack. Reads no values.

    Args:
      training: The training thread, as `threading.get_ident()`.
      is_in_step: Whether a step is open: then a package that trains counts as the program, too.
        Between steps it could be a notebook that waits for its user.
      frames: The frame that each thread is in; None for those of this process.

    Returns:
      None where the training thread isn't in the program, or is stopped in a debugger.
    """
    with without_collections():
        return _find_places(training, (frames or sys._current_frames)(), is_in_step=is_in_step)


def _find_places(
    training: int, found: Mapping[int, FrameType], *, is_in_step: bool
) -> ThreadPlaces | None:
    innermost = found.get(training)
    if innermost is None or _is_in_debugger(innermost):
        return None
    frame = _program_frame(innermost) or (calling_frame(innermost) if is_in_step else None)
    if frame is None:
        return None
    places = SourcePlaces.of_process()
    own = {t.ident for t in threading.enumerate() if t.name.startswith(OWN_THREADS)}
    others: Counter[str] = Counter()
    for ident, top in found.items():
        if ident != training and ident not in own:
            seen = _program_frame(top)
            if seen is not None:
                others[places.in_code(seen.f_code, line_of(seen))] += 1
    return ThreadPlaces(
        places.in_code(frame.f_code, line_of(frame)), others, _count_threads() - 1 - len(own)
    )


def _program_frame(innermost: FrameType) -> FrameType | None:
    frame: FrameType | None = innermost
    for _ in range(_MAX_FRAMES):
        if frame is None or not is_installed(frame.f_code.co_filename):
            return frame
        frame = frame.f_back
    return None


def _is_in_debugger(innermost: FrameType) -> bool:
    frame: FrameType | None = innermost
    for _ in range(_MAX_FRAMES):
        if frame is None:
            return False
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False


def _count_threads() -> int:
    try:
        return sum(1 for _ in _TASKS.iterdir())
    except OSError:
        return threading.active_count()
