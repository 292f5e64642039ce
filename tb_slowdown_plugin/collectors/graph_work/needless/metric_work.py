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
from tb_slowdown_plugin.collectors.hooks.source_location import is_made_within

_LEAST: Final = 100 * START
"""What a metric takes at least that is told of: as long as the start of a graph from Python. An
accuracy, a mean, and an `AUC` of thresholds that are as far from each other take less."""

_BY_KERAS: Final = "compute_metrics"
"""Keras's method that updates what `compile` was given."""
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
    """Of the metric that costs most, the update that does."""
    place: str
    """Where that metric is made, if Keras updates it; else "": the operation has a line."""
    made: frozenset[Any]
    """What is computed for metrics alone."""
    metrics: int
    """How many have such work."""
    share: float
    """Of what the graph computes."""

    def numbers(self) -> dict[str, float]:
        """What a fact tells beside the line."""
        compiled = float(bool(self.place))
        return {"compiled": compiled, "metrics": float(self.metrics), "share": self.share}


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
    needed = _find_needed(step, updates)
    alone = {each: operations_before(each.inputs, but=needed) for each in updates}
    made: dict[MadeMetric, set[Any]] = {}
    for each, metric in updates.items():
        made.setdefault(metric, set()).update(alone[each])
    large = [metric for metric, found in made.items() if _cost(step, found) > _LEAST]
    if not large:
        return None
    main = max(large, key=lambda metric: _cost(step, made[metric]))
    of_main = [each for each, metric in updates.items() if metric == main]
    most = max(of_main, key=lambda each: _cost(step, alone[each]))
    whole = frozenset().union(*(made[metric] for metric in large))
    place = main.place if is_made_within(most, _BY_KERAS) else ""
    return MetricWork(most, place, whole, len(large), _cost(step, whole) / step.cost)


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
    kept = {each.inputs[0].op for each in updates}
    made_of_kept = set(kept)
    for each in step.operations:  # each after what it needs
        if any(tensor.op in made_of_kept for tensor in each.inputs):
            made_of_kept.add(each)
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


def _cost(step: StepGraph, operations: Collection[Any]) -> float:
    return sum(step.costs.get(each, 0.0) for each in operations)
