"""Which of the gradients that are computed in one place move a variable, and what the others cost.

A gradient is of no use where the optimizer doesn't get it, or gets it times zero. One of which only
numbers are made, such as a norm, is watched. Of several that are only added up one would do.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from tb_slowdown_plugin.collectors.graph_work.gradients.asked_gradients import Asked, Scope, Traced
from tb_slowdown_plugin.collectors.graph_work.gradients.repeated_loops import (
    share_of_repeated_loops,
)
from tb_slowdown_plugin.collectors.graph_work.gradients.summed_gradients import (
    OneGradient,
    are_added_up,
    share_of_repeats,
)
from tb_slowdown_plugin.collectors.graph_work.gradients.unused_share import (
    Gradients,
    only_numbers_leave,
    share_of_graph,
)
from tb_slowdown_plugin.collectors.graph_work.gradients.zero_tensors import GraphNumber, find_zeros


def count_places(scope: Scope, zeros: Collection[GraphNumber]) -> dict[str, dict[str, float]]:
    """The numbers of `WIDE_GRADIENT`, by line; of several calls in one, those with most unused.

    Args:
      scope: With all of its calls.
      zeros: Those of its numbers that are zero.
    """
    known = _find_zero_tensors(scope, zeros)
    watched = [each for each in scope.asked if _is_watched(each)]
    summed = _find_summed([each for each in scope.asked if each not in watched])
    counted = _count_watched(scope, watched) | _count_summed(summed)
    counted |= _count_repeated(scope)
    told = [*watched, *(each for group in summed for each in group)]
    for asked in (each for each in scope.asked if each not in told):
        numbers = _count(asked, scope.applied, known)
        before = counted.get(asked.place)
        if numbers and (before is None or _used(numbers) < _used(before)):
            counted[asked.place] = numbers
    return counted


def _is_watched(asked: Asked) -> bool:
    """Whether its gradients move nothing, and only a few numbers are made of them."""
    gradients = [each.find() for each in asked.gradients.values()]
    if not gradients or any(each is None for each in gradients):
        return False
    return any(each.consumers() for each in gradients) and only_numbers_leave(gradients)


def _count_watched(scope: Scope, watched: list[Asked]) -> dict[str, dict[str, float]]:
    """The same of lines whose gradients are only watched, all calls of a line together."""
    used = [each.find() for all_of in scope.applied.values() for each in all_of]
    counted: dict[str, dict[str, float]] = {}
    groups: dict[tuple[str, Callable[[], Any]], list[Asked]] = {}
    for each in watched:
        groups.setdefault((each.place, each.targets[0].graph), []).append(each)
    for (place, _), calls in groups.items():
        targets = [each.find() for call in calls for each in call.targets]
        unused = [each.find() for call in calls for each in call.gradients.values()]
        share = share_of_graph(
            Gradients(targets, [each for each in used if each is not None], unused)
        )
        if share > 0:  # not where it can't be counted
            counted[place] = {
                "variables": max(len(call.elements) for call in calls),
                "updated": 0,
                "elements": max(sum(call.elements.values()) for call in calls),
                "updated_elements": 0,
                "watched": len(calls),
                "share": share,
            }
    return counted


def _find_summed(asked: list[Asked]) -> list[list[Asked]]:
    """Calls whose gradients of the same variables are only added up, in groups."""
    groups: dict[tuple[int, Callable[[], Any]], list[Asked]] = {}
    for each in asked:
        if each.gradients:
            widest = max(each.gradients, key=each.elements.__getitem__)
            groups.setdefault((widest, each.gradients[widest].graph), []).append(each)
    found = []
    for (variable, _), group in groups.items():
        gradients = [each.gradients[variable].find() for each in group]
        if all(each is not None for each in gradients) and are_added_up(gradients):
            found.append(group)
    return found


def _count_summed(groups: list[list[Asked]]) -> dict[str, dict[str, float]]:
    """The numbers of such calls, at the line of the first one."""
    counted: dict[str, dict[str, float]] = {}
    for group in groups:
        calls = [
            OneGradient(
                [each.find() for each in call.targets],
                [each.find() for each in call.gradients.values()],
            )
            for call in group
        ]
        share = share_of_repeats(calls)
        elements = max(sum(call.elements.values()) for call in group)
        variables = max(len(call.elements) for call in group)
        if share > 0:  # not where it can't be counted
            counted[group[0].place] = {
                "variables": variables,
                "updated": variables,
                "elements": elements,
                "updated_elements": elements,
                "summed": len(group),
                "share": share,
            }
    return counted


def _count_repeated(scope: Scope) -> dict[str, dict[str, float]]:
    """The numbers of calls of one target that go through loops again, at the line of the last."""
    groups: dict[tuple[Traced, ...], list[Asked]] = {}
    for each in scope.asked:
        if each.targets and each.gradients:
            groups.setdefault(tuple(each.targets), []).append(each)
    counted: dict[str, dict[str, float]] = {}
    for group in (calls for calls in groups.values() if len(calls) > 1):
        found = [each.find() for each in group]
        calls = [OneGradient(each.targets, each.gradients) for each in found if each is not None]
        share = share_of_repeated_loops(calls) if len(calls) == len(group) else 0.0
        if share > 0:
            elements = {key: value for each in group for key, value in each.elements.items()}
            variables, numbers = float(len(elements)), float(sum(elements.values()))
            counted[group[-1].place] = {
                "variables": variables,
                "updated": variables,
                "elements": numbers,
                "updated_elements": numbers,
                "repeated": float(len(group)),
                "share": share,
            }
    return counted


def _used(numbers: Mapping[str, float]) -> float:
    return numbers["updated_elements"] / numbers["elements"]


def _count(
    asked: Asked, applied: Mapping[int, list[Traced]], zeros: AbstractSet[Traced]
) -> dict[str, float]:
    """The numbers of a fact; none where the optimizer updates none of the variables.

    Args:
      asked: What is computed.
      applied: What the optimizer gets.
      zeros: Of that, what is zero.
    """
    got = asked.elements.keys() & applied.keys()
    zeroed = {each for each in got if applied[each] and zeros >= set(applied[each])}
    moved = got - zeroed
    if not moved:
        return {}
    numbers: dict[str, float] = {
        "variables": len(asked.elements),
        "updated": len(moved),
        "elements": sum(asked.elements.values()),
        "updated_elements": sum(asked.elements[each] for each in moved),
    }
    if zeroed:
        numbers["zeroed"] = len(zeroed)
    if len(moved) == len(asked.elements):
        numbers["share"] = 0.0
    elif asked.gradients:
        numbers["share"] = _count_share(asked, moved)
    return numbers


def _find_zero_tensors(scope: Scope, numbers: Collection[GraphNumber]) -> set[Traced]:
    """What the optimizer gets that is zero whatever is fed."""
    zeros: set[Traced] = set()
    applied = {each for gradients in scope.applied.values() for each in gradients}
    for reference in {each.graph for each in applied}:
        graph = reference()
        if graph is not None:
            known = find_zeros(graph, [each.tensor for each in numbers if each.graph() is graph])
            zeros |= {each for each in applied if each.graph is reference and each.name in known}
    return zeros


def _count_share(asked: Asked, moved: Collection[int]) -> float:
    """Of its graph; 0 where TensorFlow leaves them out, as nobody needs them."""
    found = {variable: gradient.find() for variable, gradient in asked.gradients.items()}
    targets = [each.find() for each in asked.targets]
    if any(each is None for each in (*targets, *found.values())):
        return 0.0  # its graph is gone
    used = [gradient for variable, gradient in found.items() if variable in moved]
    unused = [gradient for variable, gradient in found.items() if variable not in moved]
    if not any(gradient.consumers() for gradient in unused):
        return 0.0
    return share_of_graph(Gradients(targets, used, unused))
