"""In which lines of the program the training thread was, by samples of its stack."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Protocol, TypeVar

from tb_slowdown_plugin.analysis.causes.common.context import Case, to_place
from tb_slowdown_plugin.analysis.causes.common.trend_tests import typical_of_known
from tb_slowdown_plugin.analysis.prepare.recorded_run import input_facts
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    StackSet,
    facts_of,
    function_of,
    samples_of,
    stack_sets,
    unit_of,
)
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.events import CALLBACK_AT, INPUT_AT, PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.shared import (
    ENOUGH_STEPS,
    LARGER,
    MAJORITY,
    MOSTLY,
    SEVERAL,
)
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact


def input_line(case: Case) -> Place | None:
    """The line that begins the passes over the data which the training thread is at most.

    The newest one, where samples of its stack don't tell.
    """
    samples: Counter[tuple[str, int]] = Counter()
    for at, seen in samples_by_place(stack_sets(case.run)).items():
        if (place := to_place(at)) is not None:
            samples[place.file, place.line] += round(seen)
    begun = [to_place(fact.subject) for fact in reversed(input_facts(case.run, INPUT_AT))]
    known = [place for place in begun if place is not None]
    return max(known, key=lambda place: samples[place.file, place.line], default=None)


def waits_for_graph(fact: Fact) -> bool:
    """Whether the thread mostly waits for a graph at a line: Python has nothing to do then."""
    return are_most(fact.numbers.get(stack_samples.GRAPH, 0.0), samples_of(fact))


def has_own_account(case: Case, subject: str) -> bool:
    """Whether what a line calls is timed by itself, such as a `predict`: the rest isn't there.

    Or whether it is of a callback that is.
    """
    accounts = case.run.steps.accounts
    methods = (fact.subject.partition(" ") for _, fact in case.run.facts(CALLBACK_AT))
    if any(
        function_of(at) == function_of(subject) for account, _, at in methods if account in accounts
    ):
        return True
    place = to_place(subject)
    timed = (to_place(names.detail(account)) for account in accounts)
    return place is not None and any(
        each is not None and (each.file, each.line) == (place.file, place.line) for each in timed
    )


def are_most(some: float, samples: float) -> bool:
    """Whether some samples are at least half of them all."""
    return some >= MAJORITY * samples > 0


def samples_by_place(sets: list[StackSet], kind: str = stack_samples.SAMPLES) -> dict[str, float]:
    """How many of a kind each place has, as it stands in a sentence."""
    samples: dict[str, float] = defaultdict(float)
    for fact in facts_of(sets):
        samples[place_of(fact)] += fact.numbers.get(kind, 0.0)
    return samples


def places_of_most(case: Case, lost: float) -> list[Fact]:
    """The places of so many samples that the time must be lost there, by the newest that say so.

    Most samples first. A place of fewer is where a step spends its time anyway, and says
    nothing of the loss. Nor do samples from before the last ones: it may have begun since.

    Args:
      case: the run.
      lost: share of the wall that is lost.
    """
    for newest in reversed(_last_sets(case)):
        if any(share_of_samples(fact) + lost >= LARGER for fact in newest.facts):
            return sorted(
                (fact for fact in newest.facts if share_of_samples(fact) + lost >= LARGER),
                key=share_of_samples,
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
    return ends_of(sets)[1] if len(sets) > 1 else sets


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


def share_of_samples(fact: Fact) -> float:
    """Of the samples that were told together, how many are of this line."""
    of = fact.numbers.get("of", 0.0)
    return samples_of(fact) / of if of > 0 else 0.0


def place_of(fact: Fact) -> str:
    """As it stands in a sentence: "sample (agent.py:88)"; code of a script is in no function."""
    return names.place(fact.subject)


class _Samples(Protocol):
    """Samples that were told together."""

    @property
    def of(self) -> float:
        """How many."""


_Set = TypeVar("_Set", bound=_Samples)


def ends_of(sets: Sequence[_Set]) -> tuple[list[_Set], list[_Set]]:
    """So many of the first and of the last sets that a share of them says something."""
    left, first, last = list(sets[1:-1]), [sets[0]], [sets[-1]]
    while left and min(size_of(first), size_of(last)) < ENOUGH_STEPS:
        if size_of(first) <= size_of(last):
            first.append(left.pop(0))
        else:
            last.insert(0, left.pop())
    return first, last


def step_seconds_of(run: Run, rows: tuple[int, int]) -> float:
    """What a step typically took while samples were taken; 0 where it is not known.

    Without the first of them: the samples of the set before are in it, or none, as in a run's
    first step, which is its warm-up.

    Args:
      run: The recording.
      rows: The first and the last step.
    """
    first, last = rows
    seconds = typical_of_known(run.steps.period_seconds[min(first + 1, last) : last + 1])
    return seconds if math.isfinite(seconds) else 0.0


def size_of(sets: Sequence[_Samples]) -> float:
    """The samples of some sets; 1 where there is none, to be divided by."""
    return max(1.0, sum(each.of for each in sets))
