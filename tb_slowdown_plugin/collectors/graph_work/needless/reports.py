"""What a step's graph computes only to report it: summaries, and tensors that it prints.

Such as `tf.summary.histogram` of all weights inside of a `tf.function`, which runs in each step: a
step of 5 ms takes 45 ms with those of 400,000 weights and their gradients, and one of 2.6 ms takes
15.6 in a session of TensorFlow 1 (TensorFlow 2.21, 2026-11-29). No clock of Python sees it.
"""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.operation_costs import (
    cost_of,
    cost_of_call,
    operations_before,
)
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_PRINTS: Final = frozenset({"Print", "PrintV2"})
_SUMMARIES: Final = re.compile(r"\w*Summary(V2)?")
"""How operations end that make or write one."""


class Reports(NamedTuple):
    """Of one graph."""

    operation: Any
    """The one that costs most, with what is computed for it."""
    summaries: float
    """How many."""
    prints: float
    share: float
    """Of what the graph computes."""


def find_reports(step: StepGraph) -> Reports | None:
    """None where it reports nothing but single numbers, or where it can't be counted.

    What goes through a model before it is reported is an evaluation, and doesn't count. Nor does
    what the graph decides to report or not.
    """
    reports = dict.fromkeys(filter(_is_report, step.operations))
    large = [each for each in reports if _has_many_numbers(each)]
    if not large or step.run is None:
        return None
    asked = [tensor for tensor in step.results if not _is_report(tensor.op)]
    others = (each for each in step.operations if each.op_def.is_stateful and each not in reports)
    needed = operations_before([*asked, *(tensor for each in others for tensor in each.inputs)])
    evaluates = (each for each in step.products if each not in needed)
    needed |= operations_before(tensor for each in evaluates for tensor in each.outputs)
    made = {each: (operations_before(each.inputs) | {each}) - needed for each in large}
    prints = sum(each.type in _PRINTS for each in large)
    whole = set().union(*made.values())
    return Reports(
        max(large, key=lambda each: cost_of(made[each])),
        float(len(large) - prints),
        float(prints),
        cost_of(whole) / cost_of_call(step.run | whole),
    )


def _is_report(operation: Any) -> bool:
    kind: str = operation.type
    return kind in _PRINTS or _SUMMARIES.fullmatch(kind) is not None


def _has_many_numbers(operation: Any) -> bool:
    """Whether it reports more than a number: a loss costs little."""
    inputs = list(operation.inputs)
    if operation.type == "PrintV2":  # of a text
        inputs = [tensor for text in inputs for tensor in text.op.inputs]
    return any(tensor.shape.rank != 0 for tensor in inputs)
