"""Two groups of runs, ledger by ledger: what differs by more than chance.

Steps within a run are not independent, and two runs of one program differ by more
than their steps tell: a test that only looks at steps calls 26 to 90 % of A/A pairs
different (measured). What counts here is the spread between repeats, and where there
are few of them, an assumption about it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Final, Literal

from tb_slowdown_plugin.analysis.run_ledger import WARM_UP, RunLedger, Term

Outcome = Literal["slower", "faster", "moved", "no_difference", "not_enough_repeats"]

RUN_TO_RUN: Final = 0.02
"""Assumed standard deviation between runs of one program, as a share of the step time;
never less is used (benchmarks/comparison.py has what this makes of other spreads)."""
ASSUMED_REPEATS: Final = 3
"""The assumption weighs as much as so many degrees of freedom of measured spread. With 4,
17 to 31 of 1,000 A/A comparisons gave an alarm on machines where runs differ by 5 %."""
SMALLEST_EFFECT: Final = 0.03
"""A smaller share of the step time is no difference, however sure it is."""
ALARM_RATE: Final = 0.005
"""Two-sided: how often the interval of two equal programs may miss zero."""
_SAME_WORK: Final = 0.02
"""Items per step that differ by more make a step's time no measure: items are compared."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One term of two ledgers. Seconds a step (or an item), warm-up seconds a run."""

    term: str
    base_seconds: float
    with_seconds: float
    difference_seconds: float
    interval_seconds: tuple[float, float]
    """Holds the true difference in 99.5 of 100 comparisons."""
    fraction: float
    """Difference, as a share of the base's whole step (of warm-up: of its own)."""
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Comparison:
    """What changed from the base runs to the others. The keys of the JSON are these fields."""

    base: tuple[str, ...]
    other: tuple[str, ...]
    unit: Literal["step", "item"]
    outcome: Outcome
    total: Difference
    terms: tuple[Difference, ...]
    """They add up to `total`; the largest difference first."""
    warm_up: Difference
    spread_fraction: float
    """Standard deviation between runs that the intervals use, as a share of the step."""
    repeats_wanted: int | None
    """Runs a side with which a difference of this size would be told from chance; None
    where it is told, or too small to matter."""
    notes: tuple[str, ...]


def compare(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> Comparison:
    """Says what differs between two groups of runs by more than runs of one program differ.

    Args:
      base: Repeats of the program as it was, at least one.
      other: Repeats of the changed program, at least one.

    Returns:
      The comparison. A term's seconds are judged only where the whole step differs;
      otherwise what leaves one term for another is "moved" (a cost shift).
    """
    unit, base, other = _to_one_unit(base, other)
    scale = math.fsum(run.step.seconds for run in base) / len(base)
    total = _difference("step", [r.step for r in base], [r.step for r in other], scale)
    total = replace(total, outcome=_outcome(total))
    names = dict.fromkeys(name for run in (*base, *other) for name in run.terms)
    terms = [_difference(name, _column(base, name), _column(other, name), scale) for name in names]
    terms = [replace(term, outcome=_outcome_of_term(term, total)) for term in terms]
    spread = _spread([r.step for r in base], [r.step for r in other], scale) / scale
    return Comparison(
        base=tuple(run.run for run in base),
        other=tuple(run.run for run in other),
        unit=unit,
        outcome=total.outcome,
        total=total,
        terms=tuple(sorted(terms, key=lambda term: -abs(term.difference_seconds))),
        warm_up=_compare_warm_up(base, other, scale),
        spread_fraction=spread,
        repeats_wanted=_repeats_wanted(total, spread),
        notes=(*_notes_on_repeats(base, other), *_notes_on_versions(base, other)),
    )


def exceeds(comparison: Comparison, percent: float) -> bool:
    """Whether steps are slower by more than chance, and by more than so many percent."""
    return comparison.outcome == "slower" and 100 * comparison.total.fraction > percent


def t_quantile(probability: float, degrees: float) -> float:
    """Quantile of Student's t, by the expansion 26.7.5 of Abramowitz and Stegun.

    Good to 2 % from 3 degrees of freedom on, up to the probability 0.999.

    >>> round(t_quantile(0.9975, 8), 2)
    3.83
    """
    z = NormalDist().inv_cdf(probability)
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return math.fsum(term / degrees**power for power, term in enumerate(terms))


def _to_one_unit(
    base: Sequence[RunLedger], other: Sequence[RunLedger]
) -> tuple[Literal["step", "item"], list[RunLedger], list[RunLedger]]:
    items = [run.items_per_step for run in (*base, *other)]
    known = [count for count in items if count is not None and count > 0]
    if len(known) < len(items) or max(known) <= (1 + _SAME_WORK) * min(known):
        return "step", list(base), list(other)
    return "item", [_per_item(run) for run in base], [_per_item(run) for run in other]


def _per_item(run: RunLedger) -> RunLedger:
    items = run.items_per_step or 1.0

    def divide(term: Term) -> Term:
        return Term(term.seconds / items, term.error_seconds / items)

    terms = {name: divide(term) for name, term in run.terms.items()}
    return replace(run, step=divide(run.step), terms=terms)


def _column(runs: Sequence[RunLedger], name: str) -> list[Term]:
    return [run.terms.get(name, Term(0.0, 0.0)) for run in runs]


def _difference(name: str, base: Sequence[Term], other: Sequence[Term], scale: float) -> Difference:
    before, after = _mean(base), _mean(other)
    error = _spread(base, other, scale) * math.sqrt(1 / len(base) + 1 / len(other))
    degrees = ASSUMED_REPEATS + len(base) + len(other) - 2
    margin = t_quantile(1 - ALARM_RATE / 2, degrees) * error
    change = after - before
    return Difference(
        term=name,
        base_seconds=before,
        with_seconds=after,
        difference_seconds=change,
        interval_seconds=(change - margin, change + margin),
        fraction=change / scale if scale > 0 else 0.0,
        outcome="no_difference",
    )


def _mean(terms: Sequence[Term]) -> float:
    return math.fsum(term.seconds for term in terms) / len(terms)


def _spread(base: Sequence[Term], other: Sequence[Term], scale: float) -> float:
    """Standard deviation between runs: the assumed one, raised by repeats that differ by more.

    The noise within runs is part of the spread between them; where there are no
    repeats to show it, it is added to the assumption.
    """
    within = _mean_square([term.error_seconds for term in (*base, *other)])
    assumed = (RUN_TO_RUN * scale) ** 2 + within
    squares = math.fsum(
        (term.seconds - _mean(side)) ** 2 for side in (base, other) for term in side
    )
    degrees = len(base) + len(other) - 2
    pooled = (ASSUMED_REPEATS * assumed + squares) / (ASSUMED_REPEATS + degrees)
    seen = squares / degrees if degrees else 0.0
    return math.sqrt(max(pooled, seen, (RUN_TO_RUN * scale) ** 2))


def _mean_square(values: Sequence[float]) -> float:
    return math.fsum(value * value for value in values) / len(values)


def _outcome(total: Difference) -> Outcome:
    low, high = total.interval_seconds
    least = SMALLEST_EFFECT * total.base_seconds
    if low > 0 and total.difference_seconds >= least:
        return "slower"
    if high < 0 and total.difference_seconds <= -least:
        return "faster"
    if abs(total.difference_seconds) < least:
        return "no_difference"
    return "not_enough_repeats"


def _outcome_of_term(term: Difference, total: Difference) -> Outcome:
    least = SMALLEST_EFFECT * total.base_seconds
    if abs(term.difference_seconds) < least:
        return "no_difference"
    low, high = term.interval_seconds
    if low <= 0 <= high:
        return "not_enough_repeats"
    direction: Outcome = "slower" if term.difference_seconds > 0 else "faster"
    return direction if total.outcome == direction else "moved"


def _compare_warm_up(
    base: Sequence[RunLedger], other: Sequence[RunLedger], scale: float
) -> Difference:
    """Warm-up in seconds a run; told, never an alarm: it depends on what else is cached."""
    before = [Term(run.warm_up_seconds, 0.0) for run in base]
    after = [Term(run.warm_up_seconds, 0.0) for run in other]
    usual = max(_mean(before), scale)
    found = _difference(WARM_UP, before, after, usual)
    return replace(found, outcome=_outcome(replace(found, base_seconds=usual)))


def _repeats_wanted(total: Difference, spread: float) -> int | None:
    if total.outcome != "not_enough_repeats":
        return None
    repeats = 2
    while repeats < _MOST_REPEATS:
        margin = t_quantile(1 - ALARM_RATE / 2, ASSUMED_REPEATS + 2 * repeats - 2)
        if margin * spread * math.sqrt(2 / repeats) < abs(total.fraction):
            break
        repeats += 1
    return repeats


_MOST_REPEATS: Final = 100


def _notes_on_repeats(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> list[str]:
    if len(base) + len(other) > 2:
        return []
    return [
        f"One run a side: how much runs of this program differ is assumed to be "
        f"{100 * RUN_TO_RUN:.0f} %, not measured; three a side measure it."
    ]


def _notes_on_versions(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> list[str]:
    notes = []
    for package in sorted({name for run in (*base, *other) for name in run.versions}):
        sides = [
            ", ".join(sorted({run.versions.get(package, "unknown") for run in side}))
            for side in (base, other)
        ]
        if sides[0] != sides[1]:
            notes.append(f"{package} differs: {sides[0]} before, {sides[1]} now.")
    return notes
