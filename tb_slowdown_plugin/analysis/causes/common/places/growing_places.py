"""In which lines of the program a step spends more and more time, by samples of the stack."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import Case, to_place
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import (
    are_most,
    ends_of,
    place_of,
    samples_by_place,
    share_of_samples,
    size_of,
    step_seconds_of,
)
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    function_of,
    stack_sets,
)
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent
from tb_slowdown_plugin.catalog import stack_samples
from tb_slowdown_plugin.catalog.parameters.causes import PLACE_SIGNIFICANCE
from tb_slowdown_plugin.catalog.parameters.shared import (
    TELLING,
)
from tb_slowdown_plugin.records.types import Fact


class GrowingPlace(NamedTuple):
    """A place in which a step spends more and more time, by samples of the stack."""

    place: str
    shares: tuple[float, float]
    """Of the first and the last set of samples."""
    step_seconds: tuple[float, float]
    """Of a step in it, in the steps of these sets."""
    is_function: bool = False
    """All lines of its function count, as none alone says enough."""

    @property
    def rise_seconds(self) -> float:
        """How much longer a step is in it."""
        return self.step_seconds[1] - self.step_seconds[0]


def growing_places(case: Case, *, in_python: bool = False) -> list[GrowingPlace]:
    """Places in which a step spends more time at the end, the largest rise first.

    A share of the samples times the step time of those samples: a place that had nearly all
    of a step before grows with it, and its share can't. Where no line grows for sure, the lines of
    a function are one place, that of most samples. Empty without two sets of samples.

    Args:
      case: The run.
      in_python: Without lines that mostly wait for a graph, which takes no CPU of this thread.
    """
    ends = _find_ends(case, in_python)
    if ends is None:
        return []
    functions: dict[str, list[str]] = defaultdict(list)
    for place in ends.last:
        if "(" in place:  # the code of a script is in no function
            functions[function_of(place)].append(place)
    for groups in ([[place] for place in ends.last], list(functions.values())):
        found = [grown for places in groups if (grown := _find_growth(ends, places))]
        if found:
            return sorted(found, key=lambda each: -each.rise_seconds)
    return []


class _Ends(NamedTuple):
    """The samples of the first and of the last steps: place -> how many, and what a step took."""

    first: Mapping[str, float]
    last: Mapping[str, float]
    of: tuple[float, float]
    took: tuple[float, float]


def _find_ends(case: Case, in_python: bool) -> _Ends | None:
    sets = stack_sets(case.run)
    if len(sets) < 2:
        return None
    first, last = ends_of(sets)
    before = sets[-len(last) - 1].row
    graph = samples_by_place(last, stack_samples.GRAPH) if in_python else {}
    return _Ends(
        samples_by_place(first),
        {
            place: seen
            for place, seen in samples_by_place(last).items()
            if not are_most(graph.get(place, 0.0), seen)
        },
        (size_of(first), size_of(last)),
        (_step_seconds(case, 0, first[-1].row), _step_seconds(case, before, last[-1].row)),
    )


def _find_growth(ends: _Ends, places: Sequence[str]) -> GrowingPlace | None:
    """Places that count together, where a step spends more time in them for sure."""
    samples = [sum(end.get(place, 0.0) for place in places) for end in (ends.first, ends.last)]
    shares = samples[0] / ends.of[0], samples[1] / ends.of[1]
    mean = min(1.0, sum(shares) / 2)
    error = math.sqrt(
        sum(s**2 * mean * (1 - mean) / n for s, n in zip(ends.took, ends.of, strict=True))
    )
    grown = GrowingPlace(
        max(places, key=ends.last.__getitem__),
        shares,
        (shares[0] * ends.took[0], shares[1] * ends.took[1]),
        is_function=len(places) > 1,
    )
    if grown.is_function and shares[1] <= shares[0]:
        return None  # the function of the loop has all of a step, and grows with it
    is_sure = grown.rise_seconds >= max(TELLING * ends.took[1], PLACE_SIGNIFICANCE * error)
    return grown if is_sure else None


def _step_seconds(case: Case, first: int, end: int) -> float:
    """Of these rows; 1 where it is not known, so that shares are compared."""
    return step_seconds_of(case.run, (first, end)) or 1.0


def main_line(places: list[GrowingPlace], most: list[Fact]) -> Place | None:
    """The line that grows most, else the one of most samples."""
    subjects = [each.place for each in places] or [place_of(fact) for fact in most]
    return to_place(subjects[0]) if subjects else None


def tell_places(places: list[GrowingPlace], most: list[Fact]) -> Iterable[str]:
    """Sentences on the places that grow, or on those of most samples."""
    for place, (first, last), (before, after), is_function in places[:2]:
        grown = f", {duration(before)} before" if first > 0 else ""
        where = f"The function of `{place}`" if is_function else f"`{place}`"
        yield (
            f"{where} is in {percent(last)} of the training thread's stack samples at the end, "
            f"and in {percent(first) if first > 0 else 'none'} at the start: about "
            f"{duration(after)} per step{grown}."
        )
    for fact in most[:2] if not places else ():
        yield (
            f"`{place_of(fact)}` is in {percent(share_of_samples(fact))} of the training thread's "
            f"{count(fact.numbers.get('of', 0.0))} stack samples."
        )
