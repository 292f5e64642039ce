"""What tf.data's own model of a pipeline says: the slow stage, lost elements, a cache that leaks.

The nodes are `ModelProto.nodes` of `tensorflow/core/framework/model.proto`: number from the end ->
name, the numbers of its inputs, `num_elements`, `processing_time` in ns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

_FEWEST_ELEMENTS: Final = 10
"""Fewer say little: the first ones fill caches and start threads."""

_SETTLED: Final = 3
"""From this pass over the same dataset on a cache has to hold: somebody may have peeked at
the data first, and then read it to its end."""


@dataclass(frozen=True, slots=True)
class Stage:
    """One transformation of the pipeline, as tf.data's model sees it."""

    name: str
    """"Map", "ParallelMapV2", "BatchV2" ... with its place from the end, "Map#3"."""
    seconds_per_element: float
    """CPU and waiting time in the stage itself, for each element that it made."""
    elements: int
    buffered_elements: int
    share: float
    """Of the time of all stages."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """A `filter` behind stages that work: they have worked on what it throws away, too."""

    name: str
    """"Filter#4", as `Stage.name`."""
    kept: float
    """Share of the elements that pass."""
    share: float
    """Of the time of all stages, in those before it."""


def find_slowest(nodes: Mapping[int, Any]) -> Stage | None:
    """The stage that takes the most time an element, None before enough elements were made.

    Args:
      nodes: Of the model.
    """
    total = sum(node.processing_time for node in nodes.values())
    stages = [
        Stage(
            f"{node.name}#{number}",
            node.processing_time / 1e9 / node.num_elements,
            node.num_elements,
            node.buffered_elements,
            node.processing_time / total if total else 0.0,
        )
        for number, node in nodes.items()
        if node.num_elements >= _FEWEST_ELEMENTS
    ]
    return max(stages, key=lambda stage: stage.share, default=None)


def find_filtered(nodes: Mapping[int, Any]) -> Filtered | None:
    """The `filter` for which most time is spent in vain; None without one.

    Args:
      nodes: Of the model.
    """
    total = sum(node.processing_time for node in nodes.values())
    found = []
    for number, node in nodes.items():
        given = [nodes[each] for each in node.inputs if each in nodes]
        if "Filter" not in node.name or len(given) != 1 or not total:
            continue
        if given[0].num_elements >= _FEWEST_ELEMENTS:
            before = sum(nodes[each].processing_time for each in _inputs_of(number, nodes))
            kept = min(1.0, node.num_elements / given[0].num_elements)
            found.append(Filtered(f"{node.name}#{number}", kept, before / total))
    return max(found, key=lambda each: (1.0 - each.kept) * each.share, default=None)


def _inputs_of(number: int, nodes: Mapping[int, Any]) -> set[int]:
    """The numbers of all stages before one."""
    found: set[int] = set()
    left = [number]
    while left:
        new = {each for each in nodes[left.pop()].inputs if each in nodes} - found
        found |= new
        left += new
    return found


def has_unfilled_cache(nodes: Mapping[int, Any], nth_pass: int) -> bool:
    """Whether a cache still reads its source in a pass in which it should hold.

    Args:
      nodes: Of the model; a cache that holds has no inputs there any more.
      nth_pass: The number of the pass, from 1.
    """
    if nth_pass < _SETTLED:
        return False
    return any(node.name.endswith("CacheImpl") and len(node.inputs) for node in nodes.values())
