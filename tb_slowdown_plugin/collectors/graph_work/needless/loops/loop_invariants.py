"""Products that a loop of a graph computes in each round, though nothing of them changes there.

Such as the keys of an attention in `for step in tf.range(steps)`, made of the same memory each
time. TensorFlow computes them again, and so does the gradient of the loop: of 12 rounds, 8.5 of
10.1 ms forward, and 14.4 of 20.5 ms with gradients (TensorFlow 2.21, 2026-11-29).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import InnerGraph, find_loops
from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    WORTH_MOVING,
    cost_of,
    is_product,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import READS


class LoopInvariants(NamedTuple):
    """Of one loop."""

    operation: Any
    """The one that costs most."""
    times: int
    share: float
    """Of what the graph computes: all rounds but one, and their gradients."""


def find_loop_invariants(step: StepGraph) -> LoopInvariants | None:
    """The loop in which most is repeated; None where none does, or rounds are unknown."""
    loops = [
        (loop, made) for loop in find_loops(step.forward) if (made := list(_find_repeated(loop)))
    ]
    if not loops or step.run is None:
        return None
    backward = list(find_loops(step.learning - step.forward))
    found = []
    for loop, made in loops:
        names = tuple(f"/{each.name}_grad/" for each in made)
        gradients = [
            each
            for one in backward
            for each in one.operations
            if any(name in f"/{each.name}" for name in names)
        ]
        cost = (loop.rounds - 1) * cost_of([*made, *gradients], within=loop)
        first = max(made, key=lambda each: cost_of([each], within=loop))
        found.append(LoopInvariants(first, loop.rounds, cost / step.cost))
    return max(found, key=lambda each: each.share)


def _find_repeated(loop: InnerGraph) -> Iterator[Any]:
    """Products in a loop that are made of nothing but what comes from outside."""
    if any("Assign" in each.type for each in loop.operations):
        return  # to a variable, which may be read in the next round
    constant: set[Any] = set()
    kept: set[Any] = set()
    for each in loop.operations:
        before = {tensor.op for tensor in each.inputs}
        if each.type == "Placeholder":
            if each.outputs[0].name in loop.given:
                kept.add(each)
        elif each.type not in READS and each.op_def.is_stateful:
            continue  # other numbers in each round
        elif before <= constant:
            constant.add(each)  # TensorFlow computes it once
        elif before <= kept | constant:
            kept.add(each)
            if is_product(each) and cost_of([each], within=loop) > WORTH_MOVING:
                yield each
