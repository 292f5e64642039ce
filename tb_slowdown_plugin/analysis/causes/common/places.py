"""Where in the user's Python the training thread was, by samples of its stack.

In which part of the step a growth lies, where the user has marked parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Final

from tb_slowdown_plugin.analysis.causes.common.context import Case, to_place
from tb_slowdown_plugin.analysis.causes.common.timing_text import course
from tb_slowdown_plugin.analysis.report_types import Place
from tb_slowdown_plugin.analysis.text.wording import count, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import INPUT_AT
from tb_slowdown_plugin.catalog.parameters.causes import PLACE_SIGNIFICANCE
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, MOSTLY, TELLING
from tb_slowdown_plugin.records.types import Fact

_STACK = "python_stack"
"""Fact: a place of the training thread's stack, with the samples it was seen in."""

_INSIDE = "in:"
"""How the number of samples begins in which a package's code ran at the place."""

_SHARE: Final = "share:"
"""Prefix of the engine's numbers: how much of a rise lies in a marked part of the step."""


def input_line(case: Case) -> Place | None:
    """The line that begins the newest passes over the training data."""
    places = [to_place(fact.subject) for _, fact in case.facts(INPUT_AT)]
    return places[-1] if places else None


def growing_places(case: Case) -> list[tuple[str, float, float]]:
    """(place, first share, last share) of the samples of the training thread's stack.

    Only places whose share has grown, the largest growth first; empty without
    two sets of samples.
    """
    sets: dict[int, dict[str, float]] = {}
    sizes: dict[int, float] = {}
    for row, fact in case.facts(_STACK):
        sets.setdefault(row, {})[place_of(fact)] = _share_of(fact)
        sizes[row] = fact.numbers.get("of", 0.0)
    if len(sets) < 2:
        return []
    first, last = min(sets), max(sets)
    rare = sum(1 / max(1.0, sizes[row]) for row in (first, last))
    grown = [
        (place, before, share)
        for place, share in sets[last].items()
        for before in (sets[first].get(place, 0.0),)
        if share - before >= max(TELLING, PLACE_SIGNIFICANCE * _spread((share + before) / 2, rare))
    ]
    return sorted(grown, key=lambda each: each[1] - each[2])


def places_of_most(case: Case, lost: float) -> list[Fact]:
    """The places of so many samples that the time must be lost there, by the newest that say so.

    Most samples first. A place of fewer is where a step spends its time anyway, and says
    nothing of the loss.

    Args:
      case: the run.
      lost: share of the wall that is lost.
    """
    found = [each for each in case.facts(_STACK) if _share_of(each[1]) + lost >= LARGER]
    newest = max((row for row, _ in found), default=0)
    return sorted((fact for row, fact in found if row == newest), key=_share_of, reverse=True)


def place_of_most(case: Case, lost: float) -> str:
    """The first of them, as it stands in a sentence; "" where samples do not say."""
    return next((place_of(fact) for fact in places_of_most(case, lost)), "")


def libraries_at(case: Case, places: list[str]) -> frozenset[str]:
    """Packages whose code ran in at least half of the samples of the first place."""
    found = set()
    for _, fact in case.facts(_STACK):
        if places and place_of(fact) == places[0]:
            half = fact.numbers.get("samples", 0.0) / 2
            found |= {
                name.removeprefix(_INSIDE)
                for name, samples in fact.numbers.items()
                if name.startswith(_INSIDE) and samples >= half > 0
            }
    return frozenset(found)


def tell_places(places: list[tuple[str, float, float]], most: list[Fact]) -> Iterable[str]:
    """Sentences on the places that grow, or on those of most samples."""
    for place, first, last in places[:2]:
        yield (
            f"`{place}` is in {percent(last)} of the samples of the training thread at the end, "
            f"in {percent(first) if first > 0 else 'none'} at the start."
        )
    for fact in most[:2] if not places else ():
        yield (
            f"`{place_of(fact)}` is in {percent(_share_of(fact))} of the samples of the training "
            f"thread, {count(fact.numbers.get('of', 0.0))} in all."
        )


def _spread(share: float, rare: float) -> float:
    """Standard error of the difference of two shares; `rare` adds up 1 over their samples."""
    return math.sqrt(max(0.0, share * (1 - share)) * rare)


def _share_of(fact: Fact) -> float:
    of = fact.numbers.get("of", 0.0)
    return fact.numbers.get("samples", 0.0) / of if of > 0 else 0.0


def place_of(fact: Fact) -> str:
    """As it stands in a sentence: "sample (agent.py:88)"; code of a script is in no function."""
    return fact.subject.removeprefix("<module> (").removesuffix(
        ")" * fact.subject.startswith("<module> (")
    )


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
            f"{percent(share)} of the step's rise lie in it."
        )
