"""Which runs of a TensorFlow 1 session train: whose fetches assign to trainable variables.

Cost: 5 us a run; looking at a graph, once for each set of fetches, 1 ms in 1,000 operations.
"""

from __future__ import annotations

import weakref
from typing import Any, Final

from tb_slowdown_plugin.collectors.tracing.sessions.session_calls import names_of
from tb_slowdown_plugin.writer.launch.training.graph_updates import is_write, written_resource

_RESTORE: Final = ("RestoreV2", "Restore")


class TrainingSessionRuns:
    """What is known of the runs of sessions so far."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[Any, dict[tuple[str, ...], bool]] = (
            weakref.WeakKeyDictionary()
        )

    def train(self, session: Any, fetches: Any) -> bool:
        """Whether a run with these fetches trains."""
        graph = session.graph
        names = tuple(sorted(set(names_of(fetches))))
        known = self._known.setdefault(graph, {})
        if names not in known:
            known[names] = _assigns(graph, names)
        return known[names]


def _assigns(graph: Any, names: tuple[str, ...]) -> bool:
    """Whether what must run for these fetches assigns to a trainable variable.

    Initializing and restoring assign too, and don't train.
    """
    trainable = graph.get_collection("trainable_variables")
    handles = {variable.handle.op.name if hasattr(variable, "handle") else variable.op.name
               for variable in trainable}  # fmt: skip
    initializers = {variable.initializer for variable in trainable}
    todo = []
    for name in names:
        try:
            found = graph.as_graph_element(name.partition(":")[0])
        except (KeyError, ValueError):
            continue
        todo.append(found)
    seen = set(todo)
    while todo:
        operation = todo.pop()
        if (
            is_write(operation)
            and operation not in initializers
            and written_resource(operation).op.name in handles
            and not any(each.op.type in _RESTORE for each in operation.inputs)
            and not any(
                inner.op.type in _RESTORE for each in operation.inputs for inner in each.op.inputs
            )
        ):
            return True
        for before in (*(each.op for each in operation.inputs), *operation.control_inputs):
            if before not in seen:
                seen.add(before)
                todo.append(before)
    return False
