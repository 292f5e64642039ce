"""Loops that several calls of one tape go back through, for gradients of one and the same target.

In a graph TensorFlow computes once what such calls have in common, but for loops: each call makes
them anew. One call with all variables goes back through a recurrent layer once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tb_slowdown_plugin.collectors.graph_work.gradients.summed_gradients import OneGradient
from tb_slowdown_plugin.collectors.graph_work.inner_graphs import RUNS_OTHERS
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    cost_of_call,
    operations_before,
    operations_run,
)
from tb_slowdown_plugin.collectors.graph_work.same_operations import name_operations


def share_of_repeated_loops(calls: Sequence[OneGradient]) -> float:
    """The share of what a graph computes in such loops, but for one of each; NaN if unknown.

    Args:
      calls: Of one target, in order.
    """
    graph = calls[0].gradients[0].graph
    gradients = [each for call in calls for each in call.gradients]
    run = operations_run(graph, gradients)
    if run is None:
        return math.nan
    backward = operations_before(gradients) - operations_before(calls[0].targets)
    loops = [each for each in backward if each.type in RUNS_OTHERS]
    if len(loops) < len(calls):
        return 0.0
    names = name_operations(graph.get_operations())
    first = {names[each]: each for each in loops}
    again = [each for each in loops if each is not first[names[each]]]
    return cost_of(again) / cost_of_call(run)
