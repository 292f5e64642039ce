"""Looking at the frames of other threads without a collection in between.

Python 3.11 makes the object of a frame when it is asked for, and that may start a collection. What
a collection calls lets other threads go on, and the frame under way is gone when it returns: a
crash (the frames of 3.10 are objects from the start, and 3.12 collects at other moments).
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_COLLECTS_IN_BETWEEN = sys.version_info[:2] == (3, 11)


@contextmanager
def without_collections(
    is_needed: Callable[[], bool] = lambda: _COLLECTS_IN_BETWEEN,
) -> Iterator[None]:
    """No automatic collection runs inside; for the 100 us in which frames are walked.

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
