"""A variable to which a step's graph adds rows: its shape is open, so it may grow for ever."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph
from tb_slowdown_plugin.collectors.graph_work.weights import handle_of

_NEAR: Final = 4
"""Operations from what joins the rows to what assigns them: a cut to some length, a cast."""


class GrowingVariable(NamedTuple):
    """Of one graph."""

    operation: Any
    """What joins new rows to those that the variable has."""


def find_growing_variable(step: StepGraph) -> GrowingVariable | None:
    """The first one; None where there is none."""
    assigns = (each for each in step.operations if each.type == "AssignVariableOp")
    joins = (_find_join(each.inputs[1], each.inputs[0].op.name, _NEAR) for each in assigns)
    found = next(filter(None, joins), None)
    return GrowingVariable(found) if found is not None else None


def _find_join(tensor: Any, handle: str, depth: int) -> Any:
    """What joins rows of this variable, at most so many operations before a tensor; or None."""
    made = tensor.op
    if made.type == "ConcatV2":
        is_open = None in (tensor.shape.as_list() if tensor.shape.rank else [None])
        return made if is_open and any(handle_of(each) == handle for each in made.inputs) else None
    before = list(made.inputs)[:1]
    return _find_join(before[0], handle, depth - 1) if before and depth else None
