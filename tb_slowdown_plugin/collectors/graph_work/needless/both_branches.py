"""What a step computes each time, though a condition takes it in one of so many steps only.

Such as `tf.where(tf.equal(step % 25, 0), inverse(matrix), before)`: TensorFlow computes both before
it chooses, where `tf.cond` runs one of two functions. So it does with what a function given to
`tf.cond` only hands on, as it was computed outside of it. Which of them is taken how often is known
where the condition counts: each so many steps. A `tf.cond` that changes variables isn't looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final, NamedTuple

from tb_slowdown_plugin.collectors.graph_work.inner_graphs import find_branches
from tb_slowdown_plugin.collectors.graph_work.operation_costs import START, operations_before
from tb_slowdown_plugin.collectors.graph_work.step_graph import StepGraph

_LEAST: Final = 10 * START
"""What it costs at least that is told of: `tf.cond` takes some operations itself."""
_SELECTS: Final = frozenset({"Select", "SelectV2"})
_CONDITION: Final = "StatelessIf"
_SAME: Final = frozenset({"Cast", "Identity", "Squeeze", "Reshape"})
"""They give on the number that they get."""
_EQUAL, _UNEQUAL, _NOT = "Equal", "NotEqual", "LogicalNot"
_SUMS: Final = frozenset({"Add", "AddV2", "Sub"})
_REMAINDERS: Final = frozenset({"FloorMod", "Mod", "TruncateMod"})


class BothBranches(NamedTuple):
    """Of one graph."""

    operation: Any
    """The choice of which what isn't taken costs most."""
    every: int
    """It is taken in one of so many steps."""
    share: float
    """Of what the graph computes: of all such choices, in the steps that don't take it."""


class _Choice(NamedTuple):
    operation: Any
    every: int
    untaken: list[Any]
    """The tensors that all other steps don't need."""


def find_both_branches(step: StepGraph) -> BothBranches | None:
    """None where nothing of that costs much, or where it can't be counted."""
    choices = list(_find_choices(step))
    if not choices or step.run is None:
        return None
    needed = _find_needed(step, choices)
    most, most_cost = choices[0], 0.0
    spared: dict[Any, float] = {}
    """Operation -> what it costs on average in steps that don't take it."""
    for choice in choices:
        alone = operations_before(choice.untaken, but=needed)
        costs = {each: step.costs[each] for each in alone if each in step.costs}
        if sum(costs.values()) <= _LEAST:
            continue
        if sum(costs.values()) > most_cost:
            most, most_cost = choice, sum(costs.values())
        for each, cost in costs.items():  # several may choose from the same
            spared[each] = max(spared.get(each, 0.0), (1 - 1 / choice.every) * cost)
    if not spared:
        return None
    return BothBranches(most.operation, most.every, sum(spared.values()) / step.cost)


def _find_choices(step: StepGraph) -> Iterator[_Choice]:
    for each in step.operations:
        if each.type in _SELECTS:
            untaken = [[each.inputs[2]], [each.inputs[1]]]
        elif each.type == _CONDITION:
            untaken = _only_in_branches(each)
        else:
            continue
        every, is_then = _count_steps(each.inputs[0])
        if every > 1 and untaken[is_then]:
            yield _Choice(each, every, untaken[is_then])


def _only_in_branches(condition: Any) -> list[list[Any]]:
    """The tensors that only the second function takes, and those that only the first does."""
    branches = find_branches(condition)
    if len(branches) != 2:
        return [[], []]
    given = {tensor.name: tensor for each in branches for tensor in each.given.values()}
    used = [
        {
            each.given[argument].name
            for operation in each.operations
            for argument in (tensor.name for tensor in operation.inputs)
            if argument in each.given
        }
        | {each.given[tensor.name].name for tensor in each.outputs if tensor.name in each.given}
        for each in branches
    ]
    return [[given[name] for name in one] for one in (used[1] - used[0], used[0] - used[1])]


def _count_steps(condition: Any) -> tuple[int, bool]:
    """In one of how many steps it is true, or false; 0 where it doesn't count.

    Returns:
      How many, and whether it is then that it is true.
    """
    from tensorflow.python.framework import tensor_util

    is_then = True
    if condition.shape.rank != 0:
        return 0, is_then
    operation = _behind(condition)
    while operation.type == _NOT:
        is_then = not is_then
        operation = _behind(operation.inputs[0])
    if operation.type not in (_EQUAL, _UNEQUAL):
        return 0, is_then
    for side, other in (operation.inputs, reversed(operation.inputs)):
        counted = _behind(side)
        if counted.type not in _REMAINDERS or not _is_counter(_behind(counted.inputs[0])):
            continue
        every, rest = (tensor_util.constant_value(each) for each in (counted.inputs[1], other))
        if every is not None and rest is not None and 0 <= rest < every:
            return int(every), is_then == (operation.type == _EQUAL)
    return 0, is_then


def _is_counter(operation: Any) -> bool:
    """Whether it gives what may count steps: a variable, or a whole number that the step is given.

    Or that and another one.
    """
    if operation.type in _SUMS:
        found = [_behind(each) for each in operation.inputs]
        counters = [each for each in found if each.type != "Const"]
        return len(counters) == 1 and _is_counter(counters[0])
    output = operation.outputs[0] if operation.outputs else None
    if output is None or output.shape.rank != 0 or not output.dtype.is_integer:
        return False
    return operation.type in ("ReadVariableOp", "Placeholder")


def _behind(tensor: Any) -> Any:
    operation = tensor.op
    while operation.type in _SAME:
        operation = operation.inputs[0].op
    return operation


def _find_needed(step: StepGraph, choices: Collection[_Choice]) -> set[Any]:
    """What is needed whatever is taken."""
    untaken = {tensor.name for each in choices for tensor in each.untaken}
    given = [tensor for each in choices for tensor in each.operation.inputs]
    others = operations_before(tensor for tensor in given if tensor.name not in untaken)
    return others | (step.run_without({each.operation for each in choices}) or set())
