"""Which of the program's variables hold ever more tensors, seen in a few looks.

A variable that is filled and cleared has more than before in one look of two, so it has to have
more in two looks in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import CodeType
from typing import Final, NamedTuple

from tb_slowdown_plugin.collectors.memory.reachable_tensors import HeldTensors, ReachableTensors

_SHARE: Final = 0.002
"""Of the wall time, for these looks."""
_FIRST_WAIT_NS: Final = 5_000_000_000
"""The least time between the first looks."""
_FIRST_LOOKS: Final = 3
"""Between the looks after these there is twice as much time each time."""
_MOST_DOUBLED: Final = 8
_VARIABLES: Final = 3
"""Of which each look tells: those that hold most."""
_GROWS: Final = 2
"""Looks in a row in which a variable has more."""
_LEAST_GROWN_BYTES: Final = 2**20
_MORE: Final = 1.1
"""Times what was told before, to be told again."""


class GrownVariable(NamedTuple):
    """A variable that had more than before in each of the last looks."""

    held: HeldTensors
    grown_bytes: int
    """Since it was seen first."""
    is_news: bool
    """It has a good deal more than when it was news last."""


class _Seen(NamedTuple):
    """What a variable was seen to hold, in bytes."""

    first_bytes: int
    last_bytes: int
    told_bytes: int
    times: int = 0
    """Looks in a row in which it had more."""


class GrowingVariables:
    """Looks from time to time, ever more rarely.

    Args:
      reachable: Looks.
      thread: The training thread.
      now_ns: A clock.
    """

    def __init__(self, reachable: ReachableTensors, thread: int, now_ns: Callable[[], int]) -> None:
        self._reachable = reachable
        self._thread = thread
        self._now_ns = now_ns
        self._seen: dict[str, _Seen] = {}
        self._looks = 0
        self._next_ns = 0

    def look(self, scripts: Mapping[int, CodeType]) -> Iterator[GrownVariable]:
        """The variables that grow, if a look is due; nothing otherwise.

        Args:
          scripts: As `find_scripts` found them.
        """
        began_ns = self._now_ns()
        if began_ns < self._next_ns:
            return
        found = self._reachable.find(self._thread, scripts, _VARIABLES)
        took_ns = self._now_ns() - began_ns
        self._looks += 1
        doubled = min(max(0, self._looks - _FIRST_LOOKS), _MOST_DOUBLED)
        self._next_ns = began_ns + max(_FIRST_WAIT_NS << doubled, int(took_ns / _SHARE))
        for each in found:
            if (grown := self._note(each)) is not None:
                yield grown

    def _note(self, held: HeldTensors) -> GrownVariable | None:
        name, size_bytes = held.holder.text, held.tensors.size_bytes
        before = self._seen.get(name, _Seen(size_bytes, size_bytes, 0))
        times = before.times + 1 if size_bytes > before.last_bytes else 0
        grown_bytes = size_bytes - before.first_bytes
        is_grown = times >= _GROWS and grown_bytes >= _LEAST_GROWN_BYTES
        is_news = is_grown and size_bytes >= _MORE * before.told_bytes
        told_bytes = size_bytes if is_news else before.told_bytes
        self._seen[name] = _Seen(before.first_bytes, size_bytes, told_bytes, times)
        return GrownVariable(held, grown_bytes, is_news) if is_grown else None
