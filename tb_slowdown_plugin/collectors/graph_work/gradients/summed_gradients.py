"""Gradients of several losses that are only added up: one of the sum of the losses is the same.

Where the losses share most of what they are made of, such as the heads of one trunk, each of the
gradients goes back through all of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    operations_before,
    operations_run,
    work_of,
)

_SUMS: Final = frozenset({"Add", "AddN", "AddV2", "Identity"})


class OneGradient(NamedTuple):
    """What one call computes: tensors of one graph."""

    targets: list[Any]
    gradients: list[Any]


def are_added_up(gradients: Sequence[Any]) -> bool:
    """Whether nothing comes of several gradients of one variable but their sum.

    Each may be multiplied by a single number before.
    """
    ways = [_way_through_sums(each) for each in gradients]
    return len(ways) > 1 and bool(set.intersection(*ways))


def share_of_repeats(calls: Sequence[OneGradient]) -> float:
    """The share of what a graph computes that one gradient of the sum would spare; NaN if unknown.

    Of the gradients but the largest, as much as their losses have in common.
    """
    graph = calls[0].gradients[0].graph
    run = operations_run(graph, [each for call in calls for each in call.gradients])
    if run is None:
        return math.nan
    forward = [operations_before(call.targets) for call in calls]
    of_all = set.union(*forward)
    backward = [work_of(operations_before(call.gradients) - of_all) for call in calls]
    common, longest = work_of(set.intersection(*forward)), max(map(work_of, forward))
    whole = work_of(run)
    if not (whole > 0 and longest > 0):
        return math.nan
    return common / longest * (sum(backward) - max(backward)) / whole


def _way_through_sums(tensor: Any) -> set[str]:
    """The names of what sums alone make of a tensor, as long as nothing else is made of it."""
    way: set[str] = set()
    while len(consumers := tensor.consumers()) == 1:
        (operation,) = consumers
        others = [each for each in operation.inputs if each is not tensor]
        is_scaled = operation.type == "Mul" and all(each.shape.rank == 0 for each in others)
        if not (operation.type in _SUMS or (is_scaled and others)):
            break
        (tensor,) = operation.outputs
        way.add(tensor.name)
    return way
