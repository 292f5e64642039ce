"""What a step's graph computes for metrics alone: their line, and what they take.

Such as an `AUC` of 3,000 thresholds of one's own, of a batch of 256: a step of 5 ms takes 1 ms
without it (TensorFlow 2.21, 2026-11-30). No clock of Python sees it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    START,
    cost_of,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import UPDATES
from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import is_made_within

_LEAST: Final = 100 * START
"""What a metric takes at least that is told of: as long as the start of a graph from Python. An
accuracy, a mean, and an `AUC` of thresholds that are as far from each other take less."""

_BY_KERAS: Final = "compute_metrics"
"""Keras's method that updates what `compile` was given."""
_TAKES: Final = "StridedSlice"
_READS: Final = "ReadVariableOp"
_CHECKS: Final = "Assert"
"""The type of what a metric has checked: it needs nothing that counts by itself."""


class MadeMetric(NamedTuple):
    """A metric of the program, and where it is made."""

    number: int
    """Which one: several may be made in one line."""
    place: str
    """Such as "AUC (train.py:41)"."""


class MetricWork(NamedTuple):
    """Of one graph."""

    operation: Any
    """Of the metric that costs most, what does: an update, or what its result is made of."""
    place: str
    """Where that metric is made, if Keras updates it; else "": the operation has a line."""
    made: frozenset[Any]
    """What is computed for metrics alone."""
    metrics: int
    """How many have such work."""
    share: float
    """Of what the graph computes."""
    compiled: float
    """1 where Keras updates the metric, as `compile` was given it."""
    kept: float
    """1 where its result is made of all that it keeps, which gets more with each step."""

    def numbers(self) -> dict[str, float]:
        """What a fact tells beside the line."""
        told = {"compiled": self.compiled, "metrics": float(self.metrics), "kept": self.kept}
        return {**told, "share": self.share}


class _Metric(NamedTuple):
    """What one metric computes, and nothing else needs."""

    made: MadeMetric
    updates: dict[Any, set[Any]]
    """What changes a variable of it -> what is computed for that."""
    result: set[Any]
    kept: int
    """Numbers that its result is made of, half of those that it has room for; 0 if of all."""

    @property
    def operations(self) -> set[Any]:
        """All of it."""
        return self.result.union(*self.updates.values())


def find_metric_work(step: StepGraph, metrics: Mapping[int, MadeMetric]) -> MetricWork | None:
    """None where no metric takes long, or where it can't be counted.

    What a loss, an update of weights, or a summary needs as well doesn't count; nor does a metric
    of which the loss is made.

    Args:
      step: Of a traced function.
      metrics: The `id` of the handle of each variable of a metric -> the metric.
    """
    updates = _find_updates(step, metrics)
    if not updates or step.run is None:
        return None
    costs = dict(step.costs)
    found = list(_find_metrics(step, updates))
    for each in found:
        for one in each.result if each.kept else ():
            costs[one] = cost_of([one], each.kept)

    def cost(operations: Iterable[Any]) -> float:
        return float(sum(costs.get(one, 0.0) for one in operations))

    large = [each for each in found if cost(each.operations) > _LEAST]
    if not large:
        return None
    main = max(large, key=lambda each: cost(each.operations))
    most = max(main.updates, key=lambda one: cost(main.updates[one]))
    if cost(main.result) > cost(main.updates[most]):
        most = max(main.result, key=lambda one: cost([one]))
    whole = frozenset().union(*(each.operations for each in large))
    return MetricWork(
        most,
        main.made.place if is_made_within(most, _BY_KERAS) else "",
        whole,
        len(large),
        cost(whole) / (step.cost + cost(costs) - sum(step.costs.values())),
        float(_is_by_keras(most)),
        float(main.kept > 0 and most in main.result),
    )


def _is_by_keras(operation: Any) -> bool:
    return any(
        frame.name == _BY_KERAS and is_installed(frame.filename)
        for frame in operation.traceback or ()
    )


def _find_metrics(step: StepGraph, updates: Mapping[Any, MadeMetric]) -> Iterator[_Metric]:
    """Each metric with what is computed for it alone."""
    needed = _find_needed(step, updates)
    outputs = getattr(step.targets[0].graph, "outputs", ())
    made = list(dict.fromkeys(updates.values()))
    bits = {each.inputs[0].op: 1 << made.index(metric) for each, metric in updates.items()}
    after = _operations_after(step, bits)
    for number, metric in enumerate(made):
        bit = 1 << number
        asked = [tensor for tensor in outputs if after.get(tensor.op, 0) & bit]
        behind = operations_before(asked, but=needed)
        result = {each for each in behind if after.get(each, 0) & bit}
        kept = max(map(_kept_by, result), default=0)
        own = [each for each, of in updates.items() if of == metric]
        alone = {each: operations_before(each.inputs, but=needed) for each in own}
        yield _Metric(metric, alone, result, kept)


def _kept_by(operation: Any) -> int:
    """Half of what a variable has room for, if an operation takes a part of it, of open size."""
    if operation.type != _TAKES or operation.inputs[0].op.type != _READS:
        return 0
    room, taken = operation.inputs[0].shape, operation.outputs[0].shape
    if not (room.rank and taken.rank) or room[0] is None or taken[0] is not None:
        return 0
    return int(room[0]) // 2


def _operations_after(step: StepGraph, first: Mapping[Any, int]) -> dict[Any, int]:
    """What some operations, each with a bit, go into, and these -> the bits of what goes in."""
    found = dict(first)
    for each in step.operations:  # each after what it needs
        bits = found.get(each, 0)
        for tensor in each.inputs:
            bits |= found.get(tensor.op, 0)
        if bits:
            found[each] = bits
    return found


def _find_updates(step: StepGraph, metrics: Mapping[int, MadeMetric]) -> dict[Any, MadeMetric]:
    """What changes a variable of a metric that the loss isn't made of -> that metric."""
    captures = getattr(step.targets[0].graph, "captures", ()) if metrics else ()
    of_metrics = {
        inside.op: metrics[id(outside)]
        for outside, inside in captures
        if id(outside) in metrics and inside.op not in step.learning
    }
    return {
        each: of_metrics[each.inputs[0].op]
        for each in (step.operations if of_metrics else ())
        if each.type.startswith(UPDATES) and each.inputs[0].op in of_metrics
    }


def _find_needed(step: StepGraph, updates: Collection[Any]) -> set[Any]:
    """What is needed for anything else than these updates, and what is made of their variables."""
    made_of_kept = _operations_after(step, {each.inputs[0].op: 1 for each in updates})
    outputs = getattr(step.targets[0].graph, "outputs", ())
    one_of = {each.type: each for each in step.operations}
    acts = {kind for kind, one in one_of.items() if one.op_def.is_stateful} - {_CHECKS}
    acting = [
        tensor
        for each in step.operations
        if each.type in acts and each not in updates
        for tensor in each.inputs
    ]
    asked = [tensor for tensor in outputs if tensor.op not in made_of_kept]
    return step.learning | operations_before([*asked, *acting])
