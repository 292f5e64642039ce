"""Waiting for the other workers in each all-reduce of a multi-worker strategy.

Cost: nothing in a process that trains alone; five small operations an
all-reduce in a graph, and 8 us for reading their sum, at most once in 2 ms.
"""

from __future__ import annotations

import weakref
from collections.abc import Generator
from typing import Any, Final

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.collectors.base import Context, Unavailable
from tb_slowdown_plugin.collectors.graph_timing import op_determinism
from tb_slowdown_plugin.collectors.graph_timing.graph_account import GraphAccount
from tb_slowdown_plugin.collectors.graph_timing.graph_clock import (
    GraphSums,
    can_time_here,
    timestamp,
)
from tb_slowdown_plugin.collectors.hooks import (
    tensorflow_internals,
)
from tb_slowdown_plugin.collectors.hooks.method_hooks import MethodHooks

_SUMS: Final = GraphSums("tb_slowdown_plugin_communication", 1)
"""Seconds that graphs have waited in all-reduces."""
_TALKING: Final = ("CollectiveReduce", "CollectiveGather", "CollectiveAllToAll", "NcclAllReduce")
"""Types of operations that wait for other workers."""


class Communication:
    """Books what a step waits in all-reduces to the account `communication`.

    Gradients are reduced inside a `tf.function`: while that is traced, a clock
    is put behind what goes into its collective operations and one behind those.
    In between this worker's data is ready, so it waits for the other workers
    and the network; the worker that the others wait for waits least. What is
    computed meanwhile counts as waiting. A reduction outside of graphs is
    timed as it is called.
    """

    name = "communication"
    caveat = ""

    def start(self, context: Context) -> None:
        """Replaces the methods of TensorFlow's strategies that reduce.

        Raises:
          Unavailable: This TensorFlow's strategies have other methods.
        """
        import tensorflow as tf
        from tensorflow.python.distribute import distribute_lib

        owners = {
            "all_reduce": getattr(distribute_lib, "ReplicaContextBase", None),
            "reduce_to": getattr(distribute_lib, "StrategyExtendedV2", None),
            "batch_reduce_to": getattr(distribute_lib, "StrategyExtendedV2", None),
        }
        missing = [name for name, owner in owners.items() if not hasattr(owner, name)]
        if missing:
            raise Unavailable(f"this TensorFlow's strategies have no {', '.join(missing)}")
        self._context = context
        self._executing_eagerly = tf.executing_eagerly
        self._in_work: set[int] = set()
        self._ended: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()
        self._account = GraphAccount(
            self.name, context, names.COMMUNICATION, self._read_waited, tf.executing_eagerly
        )
        self._before = _SUMS.read() if _SUMS.is_in_use else (0.0,)
        self._hooks = MethodHooks(self.name, context.failure_of(self.name))
        for name, owner in owners.items():
            self._hooks.surround(owner, name, self._timed)
        if _SUMS.is_in_use:
            self._account.open()
        self.caveat = tensorflow_internals.caveat(*_TALKING)
        op_determinism.watch(self.name, lambda: _SUMS.is_in_use, context.report_failure)

    def stop(self) -> None:
        """Puts TensorFlow's own methods back; functions traced so far keep their clocks."""
        self._hooks.remove()
        self._account.close()
        op_determinism.unwatch(self.name)

    def _timed(self, owner: Any, *_: Any, **__: Any) -> Generator[None, Any, None]:
        if not _has_other_workers(owner):
            yield
        elif self._executing_eagerly():
            yield from self._call()
        else:
            yield from self._build()

    def _call(self) -> Generator[None, Any, None]:
        watch = self._context.stopwatch
        if not watch.is_mine() or watch.is_open(names.VALIDATION):
            yield
            return
        watch.open(names.COMMUNICATION)
        try:
            yield
        finally:
            watch.close()

    def _build(self) -> Generator[None, Any, None]:
        import tensorflow as tf

        graph = tf.compat.v1.get_default_graph()
        if id(graph) in self._in_work:  # one reduction may be made of another
            yield
            return
        self._in_work.add(id(graph))
        before = len(graph.get_operations())
        try:
            yield
        finally:
            self._in_work.discard(id(graph))
        try:
            if can_time_here():
                self._add(graph, graph.get_operations()[before:])
        except Exception as error:  # noqa: BLE001 - the user's function must be traced all the same
            self._context.report_failure(
                self.name, f"an all-reduce can't be timed: {type(error).__name__}"
            )

    def _add(self, graph: Any, operations: list[Any]) -> None:
        """Times the operations of a reduction that talk to other workers.

        What follows them (the division of a mean) is no place for a clock: Grappler
        merges it with what is computed next, and the clock then runs at any time.
        """
        import tensorflow as tf

        talking = [each for each in operations if each.type.startswith(_TALKING)]
        if not talking:
            return
        ready = timestamp(graph, [tensor.op for each in talking for tensor in each.inputs])
        ended = timestamp(graph, talking)
        with graph.as_default(), tf.device("CPU:0"):
            earlier = self._ended.get(graph)
            if earlier is not None:  # what is waited for at the same time is waited for once
                ready = tf.maximum(ready, earlier)
            waited = tf.maximum(ended - ready, 0.0)
        _SUMS.add(graph, [waited])
        self._ended[graph] = ended
        if not self._account.is_open:
            self._account.open()

    def _read_waited(self) -> float:
        sums = _SUMS.read()
        waited = sums[0] - self._before[0]
        self._before = sums
        return waited


def _has_other_workers(owner: Any) -> bool:
    """Whether a replica context, or a strategy's extended part, spans several processes."""
    extended = getattr(getattr(owner, "strategy", None), "extended", owner)
    ask = getattr(extended, "_in_multi_worker_mode", None)
    return bool(ask is not None and ask())
