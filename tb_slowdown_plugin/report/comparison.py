"""A comparison of runs as text and JSON.

A comparison of runs as one HTML file: a table and its intervals, without a script.
"""

from __future__ import annotations

import html
import json
import os
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.analysis.compare.comparison import Comparison, Difference, Outcome
from tb_slowdown_plugin.analysis.compare.comparison_headline import (
    comparison_headline,
    signed_percent,
    term_title,
)
from tb_slowdown_plugin.analysis.compare.setting_changes import SettingChange
from tb_slowdown_plugin.analysis.text.wording import counted, duration, listed, percent
from tb_slowdown_plugin.report.ansi import Ink, printable
from tb_slowdown_plugin.report.formats.html_file import made_by, static_page
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

_STYLE: Final = """\
tfoot td { border-top: 1px solid }
.slower, .faster, .moved { font-weight: 600 }
.chart { width: 25% }
.zero, .interval { stroke: currentColor; stroke-width: 1; vector-effect: non-scaling-stroke }
.bar { fill: #8888 }
.slower .bar { fill: #c0392b }
.faster .bar { fill: #2e7d32 }
.moved .bar { fill: #b7791f }
"""

_BODY: Final = """\
<p>Before: {base}<br>Now: {other}</p>
<div class="wide"><table>
<thead><tr><th>A {unit}</th><th class="n">before</th><th class="n">now</th>
<th class="n">difference</th><th class="n">between</th><th class="chart">shorter · longer</th>
<th>reading</th></tr></thead>
<tbody>
{terms}
</tbody>
<tfoot>
{sums}
</tfoot>
</table></div>
{notes}"""

_HALF: Final = 49.0
"""Percent of the chart's width on each side of zero."""


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
    for change in comparison.settings:
        yield from textwrap.wrap(printable(_tell(change)), width)
    yield ""
    yield f"{f'a {comparison.unit}':<{_COLUMN}}{'before':>11}{'now':>11}{'difference':>12}  reading"
    for term in comparison.terms:
        if term.base_seconds or term.with_seconds:
            yield _text_row(term_title(term.term), term)
    yield _text_row("Sum", comparison.total)
    yield _text_row("Its faster half", comparison.quiet)
    yield ""
    for sentence in sentences(comparison):
        yield from textwrap.wrap(printable(sentence), width)


def sentences(comparison: Comparison) -> list[str]:
    """What to know beside the table."""
    spread, warm_up = comparison.spread_fraction, comparison.warm_up
    return [
        *(change.text for change in comparison.changes),
        *comparison.reasons,
        "Each difference is a share of the whole step before.",
        f"The true difference lies between {_interval(comparison.total)} in 99.5 of 100 "
        f"comparisons, that of the faster half of the steps, which other processes on the machine "
        f"rarely reach, between {_interval(comparison.quiet)}.",
        *([] if spread is None else [f"Repeats of one side differ by {percent(spread)}."]),
        f"Warm-up is not in these figures: {duration(warm_up.base_seconds)} a run before, "
        f"{duration(warm_up.with_seconds)} now.",
        *comparison.notes,
    ]


def _tell(change: SettingChange) -> str:
    return f"{change.name.replace('_', ' ')}: {change.base} before, {change.other} now."


def _side(runs: tuple[str, ...]) -> str:
    return runs[0] if len(runs) == 1 else f"{counted(len(runs), 'run')} ({listed(runs)})"


def _text_row(title: str, term: Difference) -> str:
    return (
        f"{title:<{_COLUMN}}{duration(term.base_seconds):>11}{duration(term.with_seconds):>11}"
        f"{signed_percent(term.fraction):>12}  {READINGS[term.outcome]}"
    )


def _interval(difference: Difference) -> str:
    low, high = (each / difference.base_seconds for each in difference.interval_seconds)
    return f"{signed_percent(low)} and {signed_percent(high)}"


def comparison_html(comparison: Comparison, *, made: float) -> str:
    """The page of a comparison; it loads nothing and runs nothing.

    Args:
      comparison: From `analysis.compare.comparison.compare`.
      made: Unix seconds, now.
    """
    terms = [term for term in comparison.terms if term.base_seconds or term.with_seconds]
    total, quiet = comparison.total, comparison.quiet
    shown = [*terms, total, quiet]
    reach = max(max(abs(bound) for bound in term.interval_seconds) for term in shown) or 1.0
    told = [*map(_tell, comparison.settings), *sentences(comparison)]
    names = _without_home((*comparison.base, *comparison.other))
    body = _BODY.format(
        base=_names(names[: len(comparison.base)]),
        other=_names(names[len(comparison.base) :]),
        unit=comparison.unit,
        terms="\n".join(
            _html_row(term_title(term.term), term, total.base_seconds, reach) for term in terms
        ),
        sums="\n".join(
            (
                _html_row("Sum", total, total.base_seconds, reach),
                _html_row("Its faster half", quiet, quiet.base_seconds, reach),
            )
        ),
        notes="\n".join(f"<p>{html.escape(each)}</p>" for each in told),
    )
    return static_page(
        title=comparison_headline(comparison),
        style=_STYLE,
        body=body,
        made=made_by("Compared", made),
    )


def _without_home(runs: Sequence[str]) -> list[str]:
    """Absolute paths from where they part: the page is sent to others."""
    if not all(Path(run).is_absolute() for run in runs):
        return list(runs)
    common = os.path.commonpath(runs)
    return [os.path.relpath(run, common) for run in runs]


def _names(runs: Sequence[str]) -> str:
    return ", ".join(f"<bdi>{html.escape(run)}</bdi>" for run in runs)


def _html_row(title: str, term: Difference, step: float, reach: float) -> str:
    """A row of the table; `step` and `reach` are seconds: 100%, and the end of the chart."""
    low, high = (each / reach * _HALF for each in term.interval_seconds)
    change = term.difference_seconds / reach * _HALF
    chart = (
        '<svg viewBox="-50 0 100 14" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar" x="{min(change, 0):.2f}" y="2" width="{abs(change):.2f}" height="10"/>'
        f'<path class="interval" d="M{low:.2f} 7H{high:.2f}M{low:.2f} 4V10M{high:.2f} 4V10"/>'
        '<path class="zero" d="M0 0V14"/></svg>'
    )
    bounds = " … ".join(signed_percent(each / step) for each in term.interval_seconds)
    return (
        f'<tr class="{term.outcome}"><td>{html.escape(title)}</td>'
        f'<td class="n">{duration(term.base_seconds)}</td>'
        f'<td class="n">{duration(term.with_seconds)}</td>'
        f'<td class="n">{signed_percent(term.fraction)}</td>'
        f'<td class="n">{bounds}</td>'
        f'<td class="chart">{chart}</td><td>{READINGS[term.outcome]}</td></tr>'
    )
