"""Where a growth lies: in which line, by samples of the stack, and in which phase of the step.

Also whether such a line starts TensorFlow operations, and on ever more operands.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from tb_slowdown_plugin.analysis.causes.common.context import Case, to_place
from tb_slowdown_plugin.analysis.causes.common.timing_text import course
from tb_slowdown_plugin.analysis.causes.common.trend_tests import growth_of, typical_of_known
from tb_slowdown_plugin.analysis.prepare.recorded_run import input_facts
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    StackSet,
    function_of,
    samples_of,
    stack_sets,
    unit_of,
)
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.events import INPUT_AT, PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.causes import PLACE_SIGNIFICANCE
from tb_slowdown_plugin.catalog.parameters.shared import (
    ENOUGH_STEPS,
    FAR_BEYOND,
    LARGER,
    MAJORITY,
    MOSTLY,
    SEVERAL,
    TELLING,
)
from tb_slowdown_plugin.records.types import Fact

_SHARE: Final = "share:"
"""Prefix of the engine's numbers: how much of a rise lies in a marked part of the step."""


def input_line(case: Case) -> Place | None:
    """The line that begins the passes over the data which the training thread is at most.

    The newest one, where samples of its stack don't tell.
    """
    samples: Counter[tuple[str, int]] = Counter()
    for at, seen in _samples_of(stack_sets(case.run)).items():
        if (place := to_place(at)) is not None:
            samples[place.file, place.line] += round(seen)
    begun = [to_place(fact.subject) for fact in reversed(input_facts(case.run, INPUT_AT))]
    known = [place for place in begun if place is not None]
    return max(known, key=lambda place: samples[place.file, place.line], default=None)


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
    first, last = _ends_of(sets)
    before = sets[-len(last) - 1].row
    graph = _samples_of(last, stack_samples.GRAPH) if in_python else {}
    return _Ends(
        _samples_of(first),
        {
            place: seen
            for place, seen in _samples_of(last).items()
            if not _are_most(graph.get(place, 0.0), seen)
        },
        (_size(first), _size(last)),
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


def _ends_of(sets: list[StackSet]) -> tuple[list[StackSet], list[StackSet]]:
    """So many of the first and of the last sets that a share of them says something."""
    left, first, last = list(sets), [sets[0]], [sets[-1]]
    del left[0], left[-1]
    while left and min(_size(first), _size(last)) < ENOUGH_STEPS:
        if _size(first) <= _size(last):
            first.append(left.pop(0))
        else:
            last.insert(0, left.pop())
    return first, last


def _size(sets: list[StackSet]) -> float:
    return max(1.0, sum(each.of for each in sets))


def waits_for_graph(fact: Fact) -> bool:
    """Whether the thread mostly waits for a graph at a line: Python has nothing to do then."""
    return _are_most(fact.numbers.get(stack_samples.GRAPH, 0.0), samples_of(fact))


def has_own_account(case: Case, subject: str) -> bool:
    """Whether what a line calls is timed by itself, such as a `predict`: the rest isn't there."""
    place = to_place(subject)
    timed = (to_place(names.detail(account)) for account in case.run.steps.accounts)
    return place is not None and any(
        each is not None and (each.file, each.line) == (place.file, place.line) for each in timed
    )


def _are_most(some: float, samples: float) -> bool:
    return some >= MAJORITY * samples > 0


def _samples_of(sets: list[StackSet], kind: str = stack_samples.SAMPLES) -> dict[str, float]:
    """By place."""
    samples: dict[str, float] = defaultdict(float)
    for fact in (fact for each in sets for fact in each.facts):
        samples[place_of(fact)] += fact.numbers.get(kind, 0.0)
    return samples


def main_line(places: list[GrowingPlace], most: list[Fact]) -> Place | None:
    """The line that grows most, else the one of most samples."""
    subjects = [each.place for each in places] or [place_of(fact) for fact in most]
    return to_place(subjects[0]) if subjects else None


def _step_seconds(case: Case, first: int, end: int) -> float:
    """Typical of these rows; 1 where it is not known, so that shares are compared."""
    seconds = typical_of_known(case.run.steps.period_seconds[first : end + 1])
    return 1.0 if math.isnan(seconds) else seconds


def places_of_most(case: Case, lost: float) -> list[Fact]:
    """The places of so many samples that the time must be lost there, by the newest that say so.

    Most samples first. A place of fewer is where a step spends its time anyway, and says
    nothing of the loss. Nor do samples from before the last ones: it may have begun since.

    Args:
      case: the run.
      lost: share of the wall that is lost.
    """
    for newest in reversed(_last_sets(case)):
        if any(_share_of(fact) + lost >= LARGER for fact in newest.facts):
            return sorted(
                (fact for fact in newest.facts if _share_of(fact) + lost >= LARGER),
                key=_share_of,
                reverse=True,
            )
    return []


def places_of_python(case: Case) -> list[Fact]:
    """The lines of the function that most of the program's Python ran in at the end, if any."""
    running: dict[str, dict[str, Fact]] = defaultdict(dict)
    samples: dict[str, float] = defaultdict(float)
    for fact in (fact for each in _last_sets(case) for fact in each.facts):
        unit = unit_of(fact.subject)
        running[unit][fact.subject] = fact
        samples[unit] += _own_of(fact)
    main = max(samples, key=lambda unit: samples[unit], default="")
    if not main or samples[main] < max(SEVERAL, MOSTLY * sum(samples.values())):
        return []
    return sorted(running[main].values(), key=_own_of, reverse=True)


def _last_sets(case: Case) -> list[StackSet]:
    sets = stack_sets(case.run)
    return _ends_of(sets)[1] if len(sets) > 1 else sets


def _own_of(fact: Fact) -> float:
    """Samples in the program's own Python; writing a file is work of this thread, too."""
    kinds = stack_samples.OWN, stack_samples.WAITS_WRITING
    return sum(fact.numbers.get(kind, 0.0) for kind in kinds)


def place_of_most(case: Case, lost: float) -> str:
    """The first of them, as it stands in a sentence; "" where samples do not say."""
    return next((place_of(fact) for fact in places_of_most(case, lost)), "")


def libraries_at(case: Case, places: list[str]) -> frozenset[str]:
    """Packages whose code ran in at least half of the samples of the first place."""
    found = set()
    for _, fact in case.run.facts(PYTHON_STACK):
        if places and place_of(fact) == places[0]:
            half = samples_of(fact) / 2
            found |= {
                name.removeprefix(stack_samples.IN_PACKAGE)
                for name, samples in fact.numbers.items()
                if name.startswith(stack_samples.IN_PACKAGE) and samples >= half > 0
            }
    return frozenset(found)


def starts_operations(case: Case, place: str) -> bool:
    """Whether Python was in the start of a TensorFlow operation in most samples of a place."""
    there = [fact.numbers for _, fact in case.run.facts(PYTHON_STACK) if place_of(fact) == place]
    samples, eager = (
        sum(each.get(key, 0.0) for each in there)
        for key in (stack_samples.SAMPLES, stack_samples.EAGER)
    )
    return eager >= MOSTLY * samples > 0


def tell_new_operations(case: Case, rows: tuple[int, int]) -> Iterable[str]:
    """That operations take ever more operands, as far as TensorFlow's functions tell.

    Functions that were traced in these rows may be all that there are more of.
    """
    functions = growth_of(case, "eager_functions", rows, count=True)
    if functions is None or not functions.steady or functions.last < FAR_BEYOND * functions.first:
        return
    if not any(rows[0] <= graph.row <= rows[1] for graph in case.graphs):
        yield (
            f"The eager context holds {count(functions.first)} functions at "
            f"{case.step_text(functions.first_row)} and {count(functions.last)} at "
            f"{case.step_text(functions.last_row)}: to TensorFlow, an operation on a list that "
            "grows is a new one each time."
        )


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
            f"`{place_of(fact)}` is in {percent(_share_of(fact))} of the training thread's "
            f"{count(fact.numbers.get('of', 0.0))} stack samples."
        )


def _share_of(fact: Fact) -> float:
    of = fact.numbers.get("of", 0.0)
    return samples_of(fact) / of if of > 0 else 0.0


def place_of(fact: Fact) -> str:
    """As it stands in a sentence: "sample (agent.py:88)"; code of a script is in no function."""
    return names.place(fact.subject)


def in_part(case: Case, family: str) -> tuple[Finding, ...]:
    """Findings in the core that lie in a part of the step for the most."""
    return tuple(f for f in case.core() if share_of(f, family) >= MOSTLY)


def share_of(finding: Finding, family: str) -> float:
    """How much of a finding lies in the accounts of a family."""
    return sum(
        share
        for name, share in finding.numbers.items()
        if name.startswith(_SHARE) and names.family(name.removeprefix(_SHARE)) == family
    )


def main_phase(finding: Finding) -> tuple[str, float] | None:
    """The phase of the user's that holds most of a finding, and its share."""
    prefix = f"{_SHARE}{names.PHASE}:"
    shares = {
        name.removeprefix(prefix): share
        for name, share in finding.numbers.items()
        if name.startswith(prefix) and share >= MOSTLY
    }
    return max(shares.items(), key=lambda pair: pair[1], default=None)


def tell_part(case: Case, claimed: Iterable[Finding], family: str) -> Iterable[str]:
    """How the part runs, and how much of the rise lies in it."""
    series = case.account(family)
    for finding in claimed:
        share = min(1.0, share_of(finding, family))
        yield (
            f"The phase `{family}` takes {course(case, finding, series)}; "
            f"{percent(share)} of the growth of the step is in it."
        )
