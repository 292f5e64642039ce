"""Whether records are to be written before their time, because steps take another time. Pure."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Final

_MIN_STEPS: Final = 8
"""A pace is taken over at least this many steps."""
_USUAL_OF: Final = 20
_MIN_KNOWN: Final = 4
"""Paces that the usual one is the median of, at most and at least."""
_CHANGE: Final = 1.25
"""Ratio from which a pace is another one. Chosen by hand."""
_IN_A_ROW: Final = 2
"""A single stall, such as a save, is no other pace."""
_FLUSHES: Final = 3
"""Records that a change brings: the first shows it, the others confirm it."""
_REST_SECONDS: Final = 3.0
_CREDIT: Final = 6.0
"""Early records in a row; one more every 5 minutes, so a week has 2,000 at most."""
_SECONDS_PER_FLUSH: Final = 300.0


class FlushPace:
    """Is told how many steps there are, about every second.

    Args:
      seconds: On any monotonic clock.

    Example:
      >>> pace = FlushPace(0.0)
      >>> [pace.is_due(100 * second, float(second)) for second in range(1, 11)].count(True)
      0
      >>> [pace.is_due(1000 + 60 * second, 10.0 + second) for second in range(1, 9)]
      [False, True, False, False, True, False, False, True]
    """

    def __init__(self, seconds: float) -> None:
        self._looked = self._flushed = self._earned = seconds
        self._steps = 0
        self._paces: deque[float] = deque(maxlen=_USUAL_OF)
        self._other: list[float] = []
        self._credit = _CREDIT
        self._left = 0

    def is_due(self, steps: int, seconds: float) -> bool:
        """Whether to write now.

        Args:
          steps: Finished so far.
          seconds: Now.
        """
        done, passed = steps - self._steps, seconds - self._looked
        if done >= _MIN_STEPS and passed > 0:
            self._steps, self._looked = steps, seconds
            self._note(passed / done)
        if not self._left or seconds - self._flushed < _REST_SECONDS:
            return False
        earned = (seconds - self._earned) / _SECONDS_PER_FLUSH
        self._credit, self._earned = min(self._credit + earned, _CREDIT), seconds
        if self._credit < 1.0:
            self._left = 0
            return False
        self._left -= 1
        self._credit -= 1.0
        self._flushed = seconds
        return True

    def _note(self, pace: float) -> None:
        usual = median(self._paces) if len(self._paces) >= _MIN_KNOWN else pace
        if max(pace, usual) <= _CHANGE * min(pace, usual):
            self._other.clear()
            self._paces.append(pace)
            return
        self._other.append(pace)
        if len(self._other) >= _IN_A_ROW:
            self._left = _FLUSHES
            self._paces = deque(self._other, maxlen=_USUAL_OF)
            self._other.clear()
