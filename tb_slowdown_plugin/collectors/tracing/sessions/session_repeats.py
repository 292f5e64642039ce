"""Runs of a TensorFlow 1 session that compute again what the run before them has computed.

Such as `sess.run(loss, feed)` after `sess.run(train, feed)`: the model runs twice, where one run
for both would give the same.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import REPEATED_RUN
from tb_slowdown_plugin.catalog.names import REPEATED_PASS, account
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.collectors.graph_work.operation_costs import is_product, work_of
from tb_slowdown_plugin.collectors.graph_work.run_graph import operations_for
from tb_slowdown_plugin.records.types import Fact

_SEEN: Final = 3
"""Times that two runs come one after the other before their graph is looked at."""
_MOST_OPERATIONS: Final = 20_000
"""Of a graph that is looked at, in the training thread, once for two runs: 5 us for each."""
_MOST_PAIRS: Final = 50
_OWN_INPUT: Final = ("Iterator", "Dequeue", "Reader", "Queue")
"""In the types of operations that give something else in each run."""
_UPDATES: Final = "Apply"
"""In those of an optimizer's, which has to run."""


@dataclass(slots=True)
class RepeatedRun:
    """A run that computes again what another one has just computed."""

    account: str
    share: float
    """Of what it computes."""

    @property
    def shares(self) -> Mapping[str, float]:
        """Account -> share."""
        return {self.account: self.share}


@dataclass(slots=True)
class _Pair:
    seen: int = 0
    repeat: RepeatedRun | None = None


class SessionRepeats:
    """Compares each run with the one before it, by what they are fed.

    Arrays are the same if they are one object; they are not kept alive for that.

    Args:
      emit: Takes one fact for each line that repeats a run.
    """

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], _Pair] = {}
        self._lines: dict[tuple[str, ...], str] = {}
        self._session = 0
        self._names: tuple[str, ...] = ()
        self._fed: dict[object, object] = {}

    def look(
        self,
        session: Any,
        names: tuple[str, ...],
        feeds: Mapping[Any, Any],
        place: Callable[[], str],
    ) -> RepeatedRun | None:
        """What a run repeats that is about to begin; None where it repeats nothing.

        Args:
          session: That runs.
          names: Of all that it is asked for.
          feeds: What it is fed; not empty.
          place: Gives the line that calls it.

        Raises:
          Exception: The graph is of a make that can't be looked at.
        """
        if names not in self._lines and len(self._lines) < _MOST_PAIRS:
            self._lines[names] = place()
        before, follows = self._names, id(session) == self._session and self._is_fed(feeds)
        self._session, self._names = id(session), names
        self._fed = {_key_of(key): _token_of(value) for key, value in feeds.items()}
        if not follows or before == names or not {before, names} <= self._lines.keys():
            return None
        pair = self._pairs.setdefault((before, names), _Pair())
        pair.seen += 1
        if pair.seen == _SEEN and len(self._pairs) <= _MOST_PAIRS:
            share = share_of_repeat(session.graph, before, names)
            if share >= MAJORITY:
                pair.repeat = self._tell(self._lines[before], self._lines[names], share)
        return pair.repeat

    def _is_fed(self, feeds: Mapping[Any, Any]) -> bool:
        """Whether the run before was fed all of this."""
        fed = self._fed
        return all(_is_same(fed.get(_key_of(key)), value) for key, value in feeds.items())

    def _tell(self, before: str, place: str, share: float) -> RepeatedRun:
        (file, _, line), (here, *_) = before.rpartition(":"), place.rpartition(":")
        after = float(line) if file == here and line.isdigit() else 0.0
        self._emit(Fact(REPEATED_RUN, place, {"share": share, "after": after}))
        return RepeatedRun(account(REPEATED_PASS, place), share)


def share_of_repeat(graph: Any, before: Iterable[str], names: Iterable[str]) -> float:
    """The share of what a run computes that the one before has computed, too; 0 where it must run.

    So must one that updates weights, or takes a batch by itself. One without any product of
    matrices only gets what is there.

    Args:
      graph: Of TensorFlow 1.
      before: Names of the operations and tensors that were asked for.
      names: Those of the run in question.
    """
    if len(graph.get_operations()) > _MOST_OPERATIONS:
        return 0.0
    needed = operations_for(graph, names)
    shared = needed & operations_for(graph, before)
    must_run = any(
        _UPDATES in each.type or any(kind in each.type for kind in _OWN_INPUT) for each in needed
    )
    if must_run or not any(map(is_product, shared)):
        return 0.0
    return work_of(shared) / work_of(needed)


def _key_of(key: Any) -> object:
    return key if isinstance(key, str) else id(key)


def _token_of(value: Any) -> object:
    """By which it is known again, without keeping it."""
    if not getattr(value, "shape", True):  # a number of NumPy
        value = value.item()
    if isinstance(value, bool | int | float | str):
        return value
    try:
        return weakref.ref(value)
    except TypeError:  # a list
        return None


def _is_same(token: object, value: Any) -> bool:
    if isinstance(token, weakref.ref):
        return token() is value
    return token is not None and token == _token_of(value)
