"""Looking at the frames of other threads without a collection in between.

Python 3.11 makes the object of a frame when it is asked for, and that may start a collection. What
a collection calls lets other threads go on, and the frame under way is gone when it returns: a
crash (the frames of 3.10 are objects from the start, and 3.12 collects at other moments).

So all objects of a stack are made at once, and looked at afterwards: while they are held, nothing
more is made. Collections stop for 5 to 100 us that give the interpreter's lock to no other thread:
else the program could switch them off meanwhile, and would find them on again.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TypeAlias

Frames: TypeAlias = Callable[[], Mapping[int, FrameType]]
"""What gives the innermost frame of each thread, by the thread's identity."""

Stack: TypeAlias = tuple[FrameType, ...]
"""The frames of a thread, innermost first. Hold it as long as you go from one to the next."""

_COLLECTS_IN_BETWEEN = sys.version_info[:2] == (3, 11)


def find_frames() -> Frames | None:
    """What gives the frames of this process; None where this Python does not show them."""
    show: Frames | None = getattr(sys, "_current_frames", None)
    if show is None:
        return None

    def current_frames() -> Mapping[int, FrameType]:
        # Not to a variable: this frame is in what it returns, and both would keep each other.
        with without_collections():
            return show()

    return current_frames


def stack_of(innermost: FrameType | None) -> Stack:
    """A frame and all that it was called from; of none, none."""
    found = []
    with without_collections():
        while innermost is not None:
            found.append(innermost)
            innermost = innermost.f_back
    return tuple(found)


@contextmanager
def without_collections(
    is_needed: Callable[[], bool] = lambda: _COLLECTS_IN_BETWEEN,
) -> Iterator[None]:
    """No automatic collection runs inside, where nothing may wait, read a file, or take long.

    Args:
      is_needed: whether this Python collects when a frame is looked at.
    """
    if not is_needed() or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
