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
    share = whole_percent(abs(total.fraction))
    if comparison.outcome == "no_difference":
        seen = _signed(total.fraction)
        finest = (total.interval_seconds[1] - total.difference_seconds) / total.base_seconds
        return (
            f"No difference found: {unit}s take {duration(total.with_seconds)} ({seen}); "
            f"one above {percent(max(finest, SMALLEST_EFFECT))} would have been"
        )
    if comparison.outcome == "not_enough_repeats":
        word = "slower" if total.difference_seconds > 0 else "faster"
        return (
            f"Not enough repeats to tell: {unit}s are {share} {word}, which runs of one program "
            f"can be too; about {comparison.repeats_wanted} runs a side would tell"
        )
    causes = [t for t in comparison.terms if t.outcome == comparison.outcome]
    most = f"; most of it in {_subject(causes[0].term)}" if causes else ""
    return (
        f"{unit.capitalize()}s are {share} {comparison.outcome}: {duration(total.with_seconds)} "
        f"instead of {duration(total.base_seconds)}{most}"
    )


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
    low, high = (each / comparison.total.base_seconds for each in comparison.total.interval_seconds)
    yield ""
    sentences = [
        f"The true difference lies between {_signed(low)} and {_signed(high)} in 99.5 of 100 "
        f"comparisons; runs of one program are taken to differ by "
        f"{percent(comparison.spread_fraction)}.",
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
