"""What a step's graph computes for metrics alone: their line, and what they take.

Such as an `AUC` of 3,000 thresholds of one's own, of a batch of 256: a step of 5 ms takes 1 ms
without it (TensorFlow 2.21, 2026-11-30). No clock of Python sees it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    START,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import UPDATES

_LEAST: Final = 100 * START
"""What a metric takes at least that is told of: as long as the start of a graph from Python. An
accuracy, a mean, and an `AUC` of thresholds that are as far from each other take less."""

_BY_KERAS: Final = "compute_metrics"
"""Keras's method that updates what `compile` was given."""
_CHECKS: Final = "Assert"
"""The type of what a metric has checked: it needs nothing that counts by itself."""


class MetricWork(NamedTuple):
    """Of one graph."""

    operation: Any
    """Of the metric that costs most, the update that does."""
    place: str
    """Where that metric is made, if Keras updates it; else "": the operation has a line."""
    compiled: float
    """1 if Keras updates it."""
    metrics: float
    """How many have such work."""
    share: float
    """Of what the graph computes."""

    def numbers(self) -> dict[str, float]:
        """What a fact tells beside the line."""
        return {"compiled": self.compiled, "metrics": self.metrics, "share": self.share}


def find_metric_work(step: StepGraph, places: Mapping[int, str]) -> MetricWork | None:
    """None where no metric takes long, or where it can't be counted.

    What a loss, an update of weights, or a summary needs as well doesn't count; nor does a metric
    of which the loss is made.

    Args:
      step: Of a traced function.
      places: The handle of each variable of a metric, by `id` -> where the metric is made.
    """
    updates = _find_updates(step, places)
    if not updates or step.run is None:
        return None
    needed = _find_needed(step, updates)
    alone = {each: operations_before(each.inputs, but=needed) for each in updates}
    metrics: dict[str, set[Any]] = {}
    for each, place in updates.items():
        metrics.setdefault(place, set()).update(alone[each])
    costs = {place: _cost(step, found) for place, found in metrics.items()}
    large = [place for place, cost in costs.items() if cost > _LEAST]
    if not large:
        return None
    main = max(large, key=lambda place: costs[place])
    of_main = [each for each, place in updates.items() if place == main]
    most = max(of_main, key=lambda each: _cost(step, alone[each]))
    by_keras = any(frame.name == _BY_KERAS for frame in most.traceback or ())
    whole = set().union(*(metrics[place] for place in large))
    return MetricWork(
        most,
        main if by_keras else "",
        float(by_keras),
        float(len(large)),
        _cost(step, whole) / step.cost,
    )


def _find_updates(step: StepGraph, places: Mapping[int, str]) -> dict[Any, str]:
    """What changes a variable of a metric that the loss isn't made of -> where that is made."""
    captures = getattr(step.targets[0].graph, "captures", ()) if places else ()
    of_metrics = {
        inside.op: places[id(outside)]
        for outside, inside in captures
        if id(outside) in places and inside.op not in step.learning
    }
    return {
        each: of_metrics[each.inputs[0].op]
        for each in (step.operations if of_metrics else ())
        if each.type.startswith(UPDATES) and each.inputs[0].op in of_metrics
    }


def _find_needed(step: StepGraph, updates: Collection[Any]) -> set[Any]:
    """What is needed for anything else than these updates, and what is made of their variables."""
    kept = {each.inputs[0].op for each in updates}
    outputs = [tensor for tensor in step.results if kept.isdisjoint(operations_before([tensor]))]
    acting = [
        tensor
        for each in step.operations
        if each not in updates and each.type != _CHECKS and each.op_def.is_stateful
        for tensor in each.inputs
    ]
    return step.learning | operations_before([*outputs, *acting])


def _cost(step: StepGraph, operations: Collection[Any]) -> float:
    return sum(step.costs[each] for each in operations if each in step.costs)
