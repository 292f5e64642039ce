"""A moment at which to look at another thread, that the interpreter's lock does not choose.

A thread that wakes up gets the lock when the one that holds it gives it away, and for 5 ms
(`sys.getswitchinterval`) nothing forces that one. So it would wake up whenever a step calls
TensorFlow, and never in 4 ms of Python between two such calls: in a loop that spent 16% in a Python
function and 17% in `sorted`, 150 of 150 samples of its stack were in TensorFlow's call.

Nor may the moment count from that one: in a loop that spent 25% in `sorted`, 12 ms at a time, 9% of
the samples were there. It counts from the one at which the thread was due, which no lock chooses:
the samples have its share then (`benchmarks/stack_shares.py`).
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable
from typing import Final

_LONGEST_SECONDS: Final = 0.01
"""Twice as long as a thread keeps the lock to itself: after it the moment has nothing to do with
the one at which this thread woke up before."""

_LOCKED_SECONDS: Final = 0.01
"""Twice as long, by default, as the thread may wake up late because another one keeps the lock:
from 5 ms on after it was due, 16% of the samples were where 23% of the time was."""

_INTERVAL_SECONDS: Final = 5e-5
"""How long the other thread may keep the lock meanwhile."""

_usual_seconds: float | None = None
"""The interval of the program, while another one is set."""


def _put_back() -> None:
    global _usual_seconds
    if _usual_seconds is not None:
        sys.setswitchinterval(_usual_seconds)
        _usual_seconds = None


if hasattr(os, "register_at_fork"):  # in a child no thread of ours is left to do it
    os.register_at_fork(after_in_child=_put_back)


class AnyMoment:
    """Sleeps until a random moment, 10 to 20 ms after it was due, and holds the lock then.

    Or, where that is past, for a random time of up to 10 ms.

    Only for a thread in the background: for so long the interpreter changes between threads
    that all want to run every 50 us, and not every 5 ms.

    Args:
      sleep: Gives the lock away for so many seconds.
      draw: A random number from 0 to 1. Never of the generator that the training draws from.
    """

    def __init__(
        self,
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] | None = None,
    ) -> None:
        self._sleep = sleep
        self._draw = draw or random.Random().random

    def wait(self, late_seconds: float = _LOCKED_SECONDS) -> None:
        """Returns at the next one.

        Args:
          late_seconds: So long ago the calling thread was due.
        """
        drawn = self._draw() * _LONGEST_SECONDS
        left = _LOCKED_SECONDS + drawn - late_seconds if late_seconds >= 0 else drawn
        left = left if left > 0 else drawn
        global _usual_seconds
        if _usual_seconds is None:  # else another monitor is waiting, too
            _usual_seconds = sys.getswitchinterval()
        sys.setswitchinterval(_INTERVAL_SECONDS)
        ours = sys.getswitchinterval()
        try:
            self._sleep(left)
        finally:
            if sys.getswitchinterval() == ours:
                _put_back()
            else:  # somebody has set another one meanwhile
                _usual_seconds = None
