"""Whether a TensorFlow 1 session may wait inside of `run`: by the operations in its graph.

A queue, an iterator of tf.data, or Python inside of the graph can keep it, and no clock sees that.
Where the graph has nothing of the kind, all of a run is computing, and there is nothing to miss.

Cost: 0.2 us an operation, when a session runs what it has not run before.
"""

from __future__ import annotations

import re
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from tb_slowdown_plugin.catalog.events import SESSION_WAITS
from tb_slowdown_plugin.records.types import Fact

_COMPUTES: Final = re.compile(
    r"Var|ReadVariable|Assign|Destroy|Resource(Apply|SparseApply|Gather|Scatter|Strided|Accum)|Count"
    r"|Random|Truncated|Parameterized|Multinomial|StandardGamma|Stateful(Uniform|Standard|Trunc|Ran)"
    r"|Rng|Assert|Print|TensorArray|Stack|(Mutable)?(Dense)?HashTable|LookupTable|InitializeTable"
    r"|Save|Restore|MergeV2|Write|FlushSummary|CreateSummary|CloseSummary|Summary|Timestamp|Temporary"
    r"|\w*(Iterator|Dataset)(V\d|ToStringHandle|FromStringHandle\w*)?$"
)
"""How stateful operations begin that keep nobody waiting; those that write files have clocks."""
_CALLS: Final = re.compile(r"(Stateful|Stateless)?(PartitionedCall|If|While|Case)|SymbolicGradient")
"""Operations that run functions, whose own operations are looked at."""
_PYTHON: Final = re.compile(r"(Eager)?PyFunc")
_MOST_TOLD: Final = 3
"""Kinds of operations that are named."""


class SessionGraphs:
    """Tells of each graph that sessions run which of its operations may wait.

    Args:
      emit: Takes the fact, once for each graph, and again where more are found.
    """

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._looked_at: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        """Graph -> how many of its operations."""
        self._waiting: weakref.WeakKeyDictionary[Any, set[str]] = weakref.WeakKeyDictionary()
        self._kinds: dict[str, bool] = {}

    def look(self, session: Any) -> None:
        """Looks at what is new in the graph of a session that is about to run.

        Raises:
          AttributeError: The session is none of TensorFlow's own.
        """
        graph = session.graph
        operations = graph.get_operations()
        before = self._looked_at.get(graph)
        kinds = {each.type for each in operations[before or 0 :]}
        if before is None and session.sess_str:  # the address of another process
            kinds.add("RemoteCall")
        self._looked_at[graph] = len(operations)
        waiting = self._waiting.setdefault(graph, set())
        found = set(self._find_waiting(graph, kinds)) - waiting
        waiting |= found
        if before is None or found:
            told = ", ".join(sorted(waiting)[:_MOST_TOLD])
            self._emit(Fact(SESSION_WAITS, told, {"waits": float(len(waiting))}))

    def _find_waiting(self, graph: Any, kinds: Iterable[str]) -> Iterator[str]:
        for kind in kinds:
            if _CALLS.fullmatch(kind):
                inside = _kinds_in_functions(graph)
                yield from [kind] if inside is None else filter(self._may_wait, inside)
            elif self._may_wait(kind):
                yield kind

    def _may_wait(self, kind: str) -> bool:
        if kind not in self._kinds:
            self._kinds[kind] = not _CALLS.fullmatch(kind) and _may_wait(kind)
        return self._kinds[kind]


def _may_wait(kind: str) -> bool:
    from tensorflow.python.framework import op_def_registry

    if _PYTHON.match(kind):
        return True
    known = op_def_registry.get(kind)
    stateful = known is None or known.is_stateful
    return stateful and _COMPUTES.match(kind) is None


def _kinds_in_functions(graph: Any) -> set[str] | None:
    """The types of the operations in all functions of a graph; None where TensorFlow won't tell."""
    try:
        functions = graph._functions.values()
        return {node.op for each in functions for node in each.cached_definition.node_def}
    except Exception:  # noqa: BLE001 - private, and of another version
        return None
