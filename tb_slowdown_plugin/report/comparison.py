"""A comparison of runs as text and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import asdict
from typing import Final

from tb_slowdown_plugin.analysis.body import SCHEMA, without_nan
from tb_slowdown_plugin.analysis.causes import CAUSES
from tb_slowdown_plugin.analysis.comparison import (
    SMALLEST_EFFECT,
    Comparison,
    Difference,
    Outcome,
    decisive,
)
from tb_slowdown_plugin.analysis.wording import counted, duration, listed, percent, whole_percent
from tb_slowdown_plugin.report.ink import Ink, printable

_READINGS: Final[dict[Outcome, str]] = {
    "slower": "slower",
    "faster": "faster",
    "moved": "moved between terms",
    "no_difference": "no difference",
    "not_enough_repeats": "can't tell",
}
_VERDICTS: Final[dict[Outcome, str]] = {
    "slower": "slowdown",
    "faster": "healthy",
    "not_enough_repeats": "slow_start",
}
"""outcome -> the verdict of a report whose colour it has"""
_COLUMN: Final = 22


def comparison_json(comparison: Comparison) -> str:
    """The JSON text of a comparison: the fields of `Comparison` in their order."""
    body = {"schema": SCHEMA, **without_nan(asdict(comparison))}
    return json.dumps(body, indent=2, allow_nan=False)


def comparison_text(comparison: Comparison, *, width: int = 80, colour: bool = False) -> str:
    """The text of a comparison, `width` columns wide."""
    return "\n".join(_lines(comparison, width, Ink(colour))) + "\n"


def comparison_headline(comparison: Comparison) -> str:
    """The comparison in one sentence."""
    total, unit = comparison.total, comparison.unit
    decided = decisive(comparison)
    if comparison.outcome == "no_difference":
        seen = _signed(total.fraction)
        finest = (total.interval_seconds[1] - total.difference_seconds) / total.base_seconds
        return (
            f"No difference found: {unit}s take {duration(total.with_seconds)} ({seen}); "
            f"one above {percent(max(finest, SMALLEST_EFFECT))} would have been"
        )
    if comparison.outcome == "not_enough_repeats":
        word = "slower" if total.difference_seconds > 0 else "faster"
        same = comparison.quiet.outcome == "no_difference"
        steady = "; the faster half of them takes as long as before" if same else ""
        return (
            f"Not enough repeats to tell: {unit}s are {_share(total)} {word}, which runs of one "
            f"program can be too; about {comparison.repeats_wanted} runs a side would tell{steady}"
        )
    causes = [t for t in comparison.terms if t.outcome == comparison.outcome]
    most = f"; most of it in {_subject(causes[0].term)}" if causes else ""
    which = "" if decided is total else " (the faster half of them)"
    return (
        f"{unit.capitalize()}s are {_share(decided)} {comparison.outcome}: "
        f"{duration(decided.with_seconds)} instead of {duration(decided.base_seconds)}{which}{most}"
    )


def _share(difference: Difference) -> str:
    return whole_percent(abs(difference.fraction))


def _lines(comparison: Comparison, width: int, ink: Ink) -> Iterator[str]:
    yield ink.strong(printable(f"{_side(comparison.base)} -> {_side(comparison.other)}"))
    verdict = _VERDICTS.get(comparison.outcome, "")
    for line in textwrap.wrap(printable(comparison_headline(comparison)), width):
        yield ink.verdict(verdict, line)
    yield ""
    yield f"{f'a {comparison.unit}':<{_COLUMN}}{'before':>11}{'now':>11}{'difference':>12}  reading"
    for term in comparison.terms:
        if term.base_seconds or term.with_seconds:
            yield _row(_title(term.term), term)
    yield _row("Sum", comparison.total)
    yield _row("Its faster half", comparison.quiet)
    yield ""
    spread = comparison.spread_fraction
    sentences = [
        f"The true difference lies between {_interval(comparison.total)} in 99.5 of 100 "
        f"comparisons, that of the faster half of the steps, which other programs on the machine "
        f"rarely reach, between {_interval(comparison.quiet)}.",
        *([] if spread is None else [f"Repeats of one side differ by {percent(spread)}."]),
        f"Warm-up is not in these figures: {duration(comparison.warm_up.base_seconds)} a run "
        f"before, {duration(comparison.warm_up.with_seconds)} now.",
        *comparison.notes,
    ]
    for sentence in sentences:
        yield from textwrap.wrap(printable(sentence), width)


def _side(runs: tuple[str, ...]) -> str:
    return runs[0] if len(runs) == 1 else f"{counted(len(runs), 'run')} ({listed(runs)})"


def _row(title: str, term: Difference) -> str:
    return (
        f"{title:<{_COLUMN}}{duration(term.base_seconds):>11}{duration(term.with_seconds):>11}"
        f"{_signed(term.fraction):>12}  {_READINGS[term.outcome]}"
    )


def _interval(difference: Difference) -> str:
    low, high = (each / difference.base_seconds for each in difference.interval_seconds)
    return f"{_signed(low)} and {_signed(high)}"


def _signed(fraction: float) -> str:
    sign = "\u2212" if fraction < 0 else "+"
    return f"{sign}{percent(abs(fraction))}"


def _subject(term: str) -> str:
    if term == "healthy":
        return "the step's own work"
    title = _title(term)
    return title if title[:2].isupper() else title[0].lower() + title[1:]


def _title(term: str) -> str:
    return "Healthy" if term == "healthy" else CAUSES.get(term, term)
