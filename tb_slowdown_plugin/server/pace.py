"""How often a run that grows is analysed again: so that looking at it costs next to nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from typing import Final

_REST: Final = 20.0
"""After an analysis that took t seconds there is none for 20 t: 5 % of a core."""
_LONG_SECONDS: Final = 0.05
"""An analysis that takes longer than a request may (DESIGN section 9) keeps none waiting."""
_URGENT_REST: Final = 4.0
"""Likewise while there is news: steps take another time, or a cause waits to be confirmed."""
_URGENT_WAIT_SECONDS: Final = 1.0
"""For news a request waits this long."""


class Pace:
    """How long the analyses of each run take, and which of them rest now.

    Args:
      clock: Seconds. If it is set back, nothing rests.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, tuple[float, float]] = {}
        """Run -> when its last analysis ended, and the seconds that it took."""

    @contextmanager
    def timing(self, name: str) -> Iterator[None]:
        """Surrounds an analysis of a run."""
        began = self._clock()
        yield
        ended = self._clock()
        with self._lock:
            self._last[name] = (ended, ended - began)

    def rests(self, name: str, *, is_urgent: bool = False) -> bool:
        """Whether the run was analyzed too short a time ago.

        Args:
          name: Of the run.
          is_urgent: Whether there is news.
        """
        ended, took = self._last.get(name, (-float("inf"), 0.0))
        rest = _URGENT_REST if is_urgent else _REST
        return 0.0 <= self._clock() - ended < rest * took

    def is_long(self, name: str, *, is_urgent: bool = False) -> bool:
        """Whether to analyze the run takes longer than a request may wait."""
        limit = _URGENT_WAIT_SECONDS if is_urgent else _LONG_SECONDS
        return self._last.get(name, (0.0, 0.0))[1] > limit

    def keep_only(self, names: Container[str]) -> None:
        """Forget runs that are gone."""
        with self._lock:
            self._last = {name: last for name, last in self._last.items() if name in names}
