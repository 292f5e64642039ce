"""Two groups of runs, ledger by ledger: what differs by more than chance.

Steps within a run are not independent, and two runs of one program differ by more
than their steps tell: a test that only looks at steps calls 26 to 90% of A/A pairs
different (measured). What counts here is the spread between repeats, and where there
are few of them, an assumption about it (`run_noise.py`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tb_slowdown_plugin.analysis.compare.cause_changes import (
    CauseChange,
    find_changes,
    has_other_events,
)
from tb_slowdown_plugin.analysis.compare.reasons import find_reason, tell_other_programs
from tb_slowdown_plugin.analysis.compare.run_ledger import (
    WARM_UP,
    RunLedger,
    Term,
    to_one_unit,
)
from tb_slowdown_plugin.analysis.compare.run_noise import Chance, chance_between
from tb_slowdown_plugin.analysis.compare.setting_changes import SettingChange, compare_settings
from tb_slowdown_plugin.analysis.text.wording import whole_percent
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY
from tb_slowdown_plugin.catalog.parameters.views import (
    ABSENT,
    SMALLEST_EFFECT,
    TIMED_SPREAD,
    USUAL_SPREAD,
)

Outcome = Literal["slower", "faster", "moved", "no_difference", "not_enough_repeats"]

NOT_ITS_OWN: Final = ("cpu_contention", "unexplained")
"""Terms that other programs on the machine may be the reason of."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One term of two ledgers. Seconds a step (or an item), warm-up seconds a run."""

    term: str
    base_seconds: float
    with_seconds: float
    difference_seconds: float
    interval_seconds: tuple[float, float]
    """Holds the true difference in 99.5 of 100 comparisons, where runs of one program
    differ by at most `USUAL_SPREAD`."""
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
    quiet: Difference
    """Of the faster half of the steps, which decides where the mean is too much disturbed
    to tell, and neither rules out what the faster half says nor points the other way."""
    terms: tuple[Difference, ...]
    """They add up to `total`; the largest difference first."""
    warm_up: Difference
    spread_fraction: float | None
    """Standard deviation between the repeats, as a share of the step; None without repeats."""
    repeats_wanted: int | None
    """Runs a side with which a difference of this size would be told from chance; None
    where it is told, or too small to matter."""
    notes: tuple[str, ...]
    changes: tuple[CauseChange, ...] = ()
    """Causes that differ as the whole step does: what came back, or is lost now."""
    settings: tuple[SettingChange, ...] = ()
    """What differs in configuration and environment: look at it first."""
    reasons: tuple[str, ...] = ()
    """Why causes differ, a sentence each, where the records tell it."""


def compare(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> Comparison:
    """Says what differs between two groups of runs by more than runs of one program differ.

    Args:
      base: Repeats of the program as it was, at least one.
      other: Repeats of the changed program, at least one.

    Returns:
      The comparison. A term's seconds are judged only where the whole step differs;
      otherwise what leaves one term for another is "moved" (a cost shift).
    """
    sides = base, other
    unit, base, other = to_one_unit(base, other)
    steps = [run.step for run in base], [run.step for run in other]
    scale = _mean(steps[0])
    disturbed = _disturbed([*base, *other])
    chance = _chance(*steps, scale, disturbed)
    total = _difference("step", *steps, scale, disturbed)
    quiet = _compare_quiet(base, other)
    names = dict.fromkeys(name for run in (*base, *other) for name in run.terms)
    terms = [
        _certain(name, base, other)
        or _difference(name, _column(base, name), _column(other, name), scale, disturbed)
        for name in names
    ]
    total = replace(total, outcome=_outcome_of_own(total, terms))
    outcome = _decided(total, quiet, terms)
    terms = [replace(term, outcome=_outcome_of_term(term, total, outcome)) for term in terms]
    spread = chance.seen / scale if chance.degrees and scale > 0 else None
    terms.sort(key=lambda term: -abs(term.difference_seconds))
    return Comparison(
        base=tuple(run.run for run in base),
        other=tuple(run.run for run in other),
        unit=unit,
        outcome=outcome,
        total=total,
        quiet=quiet,
        terms=tuple(terms),
        warm_up=_compare_warm_up(base, other, scale),
        spread_fraction=spread,
        repeats_wanted=(
            _repeats_wanted([(total, chance), (quiet, _chance_of_quiet(base, other))])
            if outcome == "not_enough_repeats"
            else None
        ),
        notes=(
            *tell_other_programs(base[0].facts, other[0].facts),
            *_notes_on_spread(spread, sure=outcome != total.outcome),
        ),
        settings=tuple(compare_settings(base, other)),
        reasons=tuple(_find_reasons(terms, base[0], other[0])),
        changes=tuple(
            find_changes((term.term for term in terms if _is_told(term, outcome, sides)), *sides)
        ),
    )


def _is_told(
    term: Difference, outcome: Outcome, sides: tuple[Sequence[RunLedger], Sequence[RunLedger]]
) -> bool:
    """Whether a term differs as the step does, or its events went or came: that is no chance."""
    if outcome == "not_enough_repeats":
        return abs(term.fraction) >= SMALLEST_EFFECT and has_other_events(term.term, *sides)
    return term.outcome == outcome and outcome in ("slower", "faster")


def exceeds(comparison: Comparison, percent: float) -> bool:
    """Whether steps are slower by more than chance, and by more than so many percent."""
    return comparison.outcome == "slower" and 100 * decisive(comparison).fraction > percent


def decisive(comparison: Comparison) -> Difference:
    """The difference that the outcome rests on: of all steps, or of the faster half."""
    return comparison.quiet if comparison.outcome != comparison.total.outcome else comparison.total


def _column(runs: Sequence[RunLedger], name: str) -> list[Term]:
    return [run.terms.get(name, Term(0.0, 0.0)) for run in runs]


def _difference(
    name: str,
    base: Sequence[Term],
    other: Sequence[Term],
    scale: float,
    disturbed: float = 0.0,
) -> Difference:
    before, after = _mean(base), _mean(other)
    margin = _chance(base, other, scale, disturbed).margin(len(base), len(other))
    change = after - before
    return Difference(
        term=name,
        base_seconds=before,
        with_seconds=after,
        difference_seconds=change,
        # Whatever the noise, nothing takes less than no time.
        interval_seconds=(max(change - margin, -before), change + margin),
        fraction=change / scale if scale > 0 else 0.0,
        outcome="no_difference",
    )


def _certain(name: str, base: Sequence[RunLedger], other: Sequence[RunLedger]) -> Difference | None:
    """The difference in a term that clocks timed and that one side does not have.

    The noise of such a term is a share of itself, not of the step: 0 against 115 s is no chance.
    None where it is no such term.
    """
    before, after = _mean(_column(base, name)), _mean(_column(other, name))
    larger, present = max(before, after), other if after > before else base
    is_timed = all(name in run.timed for run in present)
    if not is_timed or min(before, after) > ABSENT * larger:
        return None
    own = [Term(each.seconds, 0.0) for each in _column(base, name)]
    others = [Term(each.seconds, 0.0) for each in _column(other, name)]
    found = _difference(name, own, others, TIMED_SPREAD / USUAL_SPREAD * larger)
    steps = _mean([run.step for run in base])
    return replace(found, fraction=found.difference_seconds / steps if steps > 0 else 0.0)


def _find_reasons(terms: Sequence[Difference], base: RunLedger, other: RunLedger) -> Iterator[str]:
    for term in terms:
        if term.outcome in ("slower", "faster", "moved"):
            reason = find_reason(term.term, base.facts, other.facts, (base.run, other.run))
            if reason:
                yield reason


def _disturbed(runs: Sequence[RunLedger]) -> float:
    """Share of a step that is not the program's own, or may be not."""
    shares = [
        math.fsum(run.terms[name].seconds for name in NOT_ITS_OWN if name in run.terms)
        / run.step.seconds
        for run in runs
        if run.step.seconds > 0
    ]
    return math.fsum(shares) / len(shares) if shares else 0.0


def _chance(base: Sequence[Term], other: Sequence[Term], scale: float, disturbed: float) -> Chance:
    terms = (*base, *other)
    within = math.sqrt(math.fsum(term.error_seconds**2 for term in terms) / len(terms))
    return chance_between(
        [term.seconds for term in base],
        [term.seconds for term in other],
        within=within,
        scale=scale,
        disturbed=disturbed,
    )


def _mean(terms: Sequence[Term]) -> float:
    return math.fsum(term.seconds for term in terms) / len(terms)


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


def _outcome_of_own(total: Difference, terms: Sequence[Difference]) -> Outcome:
    """The outcome of the mean; a difference that is mostly other programs' tells nothing."""
    outcome = _outcome(total)
    own = _own_seconds(terms)
    theirs = outcome in ("slower", "faster") and abs(own) < MAJORITY * abs(total.difference_seconds)
    return "not_enough_repeats" if theirs else outcome


def _own_seconds(terms: Sequence[Difference]) -> float:
    return math.fsum(term.difference_seconds for term in terms if term.term != "cpu_contention")


def _decided(total: Difference, quiet: Difference, terms: Sequence[Difference]) -> Outcome:
    """The mean decides; where it can't, the faster half, if the mean does not deny it.

    What other programs took, by the operating system's own count, denies nothing.
    """
    low, high = total.interval_seconds
    possible = low <= quiet.difference_seconds <= high
    own = _own_seconds(terms)
    denied = own * quiet.difference_seconds < 0 and abs(own) >= SMALLEST_EFFECT * total.base_seconds
    if total.outcome in ("slower", "faster") or denied or not possible:
        return total.outcome
    return quiet.outcome if quiet.outcome in ("slower", "faster") else total.outcome


def _outcome_of_term(term: Difference, total: Difference, outcome: Outcome) -> Outcome:
    least = SMALLEST_EFFECT * total.base_seconds
    if abs(term.difference_seconds) < least:
        return "no_difference"
    low, high = term.interval_seconds
    if low <= 0 <= high:
        return "not_enough_repeats"
    direction: Outcome = "slower" if term.difference_seconds > 0 else "faster"
    return direction if outcome in (direction, "not_enough_repeats") else "moved"


def _compare_quiet(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> Difference:
    before, after = [run.quiet for run in base], [run.quiet for run in other]
    found = _difference("quiet", before, after, _mean(before))
    return replace(found, outcome=_outcome(found))


def _chance_of_quiet(base: Sequence[RunLedger], other: Sequence[RunLedger]) -> Chance:
    before, after = [run.quiet for run in base], [run.quiet for run in other]
    return _chance(before, after, _mean(before), 0.0)


def _compare_warm_up(
    base: Sequence[RunLedger], other: Sequence[RunLedger], scale: float
) -> Difference:
    """Warm-up in seconds a run; told, never an alarm: it depends on what else is cached."""
    before = [Term(run.warm_up_seconds, 0.0) for run in base]
    after = [Term(run.warm_up_seconds, 0.0) for run in other]
    usual = max(_mean(before), scale)
    found = _difference(WARM_UP, before, after, usual)
    return replace(found, outcome=_outcome(replace(found, base_seconds=usual)))


def _repeats_wanted(differences: Sequence[tuple[Difference, Chance]]) -> int:
    """Runs a side with which one of the differences, if it is true, would be told."""
    for repeats in range(2, _MOST_REPEATS):
        for difference, chance in differences:
            # As if the spread stayed the one seen; without repeats it is not known.
            degrees = 2 * repeats - 2 if chance.degrees else 0
            margin = replace(chance, degrees=degrees).margin(repeats, repeats)
            change = abs(difference.difference_seconds)
            if change > max(margin, SMALLEST_EFFECT * difference.base_seconds):
                return repeats
    return _MOST_REPEATS


_MOST_REPEATS: Final = 100


def _notes_on_spread(spread: float | None, *, sure: bool) -> list[str]:
    if spread is None:
        return [
            f"One run a side: how much runs of this program differ is taken to be "
            f"{whole_percent(USUAL_SPREAD)}, not measured; three a side measure it."
        ]
    if spread > USUAL_SPREAD and not sure:
        return [
            f"Repeats of one side differ by {whole_percent(spread)}. From "
            f"{whole_percent(USUAL_SPREAD)} on, chance passes for a difference more often "
            f"than once in 200 times: train on a "
            f"quieter machine, and in turns."
        ]
    return []
