"""A fleet's summary as text for a terminal, and as JSON."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from typing import Final

from tb_slowdown_plugin.report.ansi import Ink, printable
from tb_slowdown_plugin.report.fleet.summary import FleetSummary
from tb_slowdown_plugin.report.fleet.summary_tables import (
    SummaryTable,
    headline,
    sentences,
    summary_tables,
)

_FIGURES: Final = 29
"""Columns of runs, hours, and shares."""
_BAR: Final = 10
_OWN: Final = 9 + 2 + _BAR
"""Columns of the share of the own hours, and of a bar."""


def summary_json(summary: FleetSummary) -> str:
    """The JSON text."""
    return json.dumps(summary.to_dict(), indent=2, allow_nan=False)


def summary_text(summary: FleetSummary, *, width: int = 80, colour: bool = False) -> str:
    """The text, `width` columns wide."""
    return "\n".join(_lines(summary, width, Ink(colour))) + "\n"


def _lines(summary: FleetSummary, width: int, ink: Ink) -> Iterator[str]:
    yield from map(ink.strong, textwrap.wrap(headline(summary), width))
    for sentence in sentences(summary):
        yield from textwrap.wrap(sentence, width)
    for table in summary_tables(summary):
        yield ""
        yield from _table(table, width, ink)
    if summary.broken:
        yield ""
        yield ink.strong("Could not be read")
        for row in summary.broken:
            yield from textwrap.wrap(
                printable(f"{row['logdir']}: {row['run']}: {row['reason']}"),
                width,
                initial_indent="  ",
                subsequent_indent="    ",
            )
        if summary.unreadable > len(summary.broken):
            yield f"  and {summary.unreadable - len(summary.broken):,} more"


def _table(table: SummaryTable, width: int, ink: Ink) -> Iterator[str]:
    has_own = any(row.of_own for row in table.rows)
    names = width - _FIGURES - (_OWN if has_own else 0)
    own = f"{'of own':>9}" if has_own else ""
    title = f"{ink.strong(table.title)}{'':<{max(1, names - len(table.title))}}"
    yield f"{title}{'runs':>8}{'hours lost':>12}{'of all':>9}{own}"
    most = max(row.lost_hours for row in table.rows)
    for row in table.rows:
        bar = "█" * round(_BAR * row.lost_hours / most) if most else ""
        end = f"{row.of_own:>9}  {ink.fill(row.cause, bar)}" if has_own else ""
        name = _shorten(printable(row.name), names - 1)
        yield f"{name:<{names}}{row.runs:>8,}{row.lost:>12}{row.share:>9}{end}".rstrip()
    if table.left_out:
        yield f"and {table.left_out:,} more"


def _shorten(name: str, most: int) -> str:
    """Cut in the middle: names of one fleet differ at both ends."""
    if len(name) <= most:
        return name
    return f"{name[: most // 2]}…{name[len(name) - (most - most // 2 - 1) :]}"
