"""A comparison of runs as text and JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Final

from tb_slowdown_plugin.analysis.compare.comparison import Comparison, Difference, Outcome
from tb_slowdown_plugin.analysis.compare.comparison_headline import (
    comparison_headline,
    signed_percent,
    term_title,
)
from tb_slowdown_plugin.analysis.text.wording import counted, duration, listed, percent
from tb_slowdown_plugin.report.ansi import Ink, printable
from tb_slowdown_plugin.report.json_body import comparison_body

READINGS: Final[dict[Outcome, str]] = {
    "slower": "slower",
    "faster": "faster",
    "moved": "moved between terms",
    "no_difference": "no difference",
    "not_enough_repeats": "can't tell",
}
"""What the outcome of a term is called."""
_VERDICTS: Final[dict[Outcome, str]] = {
    "slower": "slowdown",
    "faster": "healthy",
    "not_enough_repeats": "slow_start",
}
"""outcome -> the verdict of a report whose colour it has"""
_COLUMN: Final = 22


def comparison_json(comparison: Comparison) -> str:
    """The JSON text of a comparison."""
    return json.dumps(comparison_body(comparison), indent=2, allow_nan=False)


def comparison_text(comparison: Comparison, *, width: int = 80, colour: bool = False) -> str:
    """The text of a comparison, `width` columns wide."""
    return "\n".join(_lines(comparison, width, Ink(colour))) + "\n"


def _lines(comparison: Comparison, width: int, ink: Ink) -> Iterator[str]:
    sides = printable(f"{_side(comparison.base)} -> {_side(comparison.other)}")
    for line in textwrap.wrap(sides, width, break_long_words=False, break_on_hyphens=False):
        yield ink.strong(line)
    verdict = _VERDICTS.get(comparison.outcome, "")
    for line in textwrap.wrap(printable(comparison_headline(comparison)), width):
        yield ink.verdict(verdict, line)
    yield ""
    yield f"{f'a {comparison.unit}':<{_COLUMN}}{'before':>11}{'now':>11}{'difference':>12}  reading"
    for term in comparison.terms:
        if term.base_seconds or term.with_seconds:
            yield _row(term_title(term.term), term)
    yield _row("Sum", comparison.total)
    yield _row("Its faster half", comparison.quiet)
    yield ""
    for sentence in sentences(comparison):
        yield from textwrap.wrap(printable(sentence), width)


def sentences(comparison: Comparison) -> list[str]:
    """What to know beside the table."""
    spread, warm_up = comparison.spread_fraction, comparison.warm_up
    return [
        f"The true difference lies between {_interval(comparison.total)} in 99.5 of 100 "
        f"comparisons, that of the faster half of the steps, which other programs on the machine "
        f"rarely reach, between {_interval(comparison.quiet)}.",
        *([] if spread is None else [f"Repeats of one side differ by {percent(spread)}."]),
        f"Warm-up is not in these figures: {duration(warm_up.base_seconds)} a run before, "
        f"{duration(warm_up.with_seconds)} now.",
        *comparison.notes,
    ]


def _side(runs: tuple[str, ...]) -> str:
    return runs[0] if len(runs) == 1 else f"{counted(len(runs), 'run')} ({listed(runs)})"


def _row(title: str, term: Difference) -> str:
    return (
        f"{title:<{_COLUMN}}{duration(term.base_seconds):>11}{duration(term.with_seconds):>11}"
        f"{signed_percent(term.fraction):>12}  {READINGS[term.outcome]}"
    )


def _interval(difference: Difference) -> str:
    low, high = (each / difference.base_seconds for each in difference.interval_seconds)
    return f"{signed_percent(low)} and {signed_percent(high)}"
