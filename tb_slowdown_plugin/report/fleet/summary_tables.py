"""A fleet's summary as sentences and tables, the same for text and HTML."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from tb_slowdown_plugin.analysis.text.wording import counted, percent, whole_percent
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.report.fleet.columns import Row
from tb_slowdown_plugin.report.fleet.summary import FleetSummary

UNKNOWN: Final = "\u2013"
_MOST_ROWS: Final = 10
"""Of a table for people; the JSON has all."""


class SummaryTable(NamedTuple):
    """One table: what was lost, by something."""

    title: str
    by: str
    """What a row is."""
    rows: tuple[SummaryRow, ...]
    left_out: int
    """Rows beyond the first ten."""


class SummaryRow(NamedTuple):
    """One row of it."""

    name: str
    runs: int
    lost_hours: float
    lost: str
    share: str
    """Of all that was lost."""
    of_own: str
    """Of the row's own run-hours; "" where a row has none."""
    cause: str
    """Whose color it has; "" for no color."""


def headline(summary: FleetSummary) -> str:
    """What was lost, of how much.

    Example: "Lost 24,310 of 118,000 run-hours (21%), in 48,112 runs."
    """
    if not summary.runs:
        return "No runs were found."
    if not summary.judged:
        return f"None of {counted(summary.runs, 'run')} could be judged."
    lost, total = (
        hours(each, summary.run_hours) for each in (summary.lost_hours, summary.run_hours)
    )
    share = whole_percent(summary.lost_fraction)
    return f"Lost {lost} of {total} run-hours ({share}), in {counted(summary.judged, 'run')}."


def sentences(summary: FleetSummary) -> list[str]:
    """What to know beside the headline."""
    found = []
    if summary.accelerator_hours:
        lost, total = (
            hours(each, summary.accelerator_hours)
            for each in (summary.lost_accelerator_hours, summary.accelerator_hours)
        )
        found.append(
            f"Lost {lost} of {total} accelerator-hours, in the "
            f"{counted(summary.runs_with_devices, 'run')} whose devices are known."
        )
    words = {
        "slowdown": "slower than they need to be",
        "slow_start": "with a slow start only",
        "healthy": "healthy",
        "not_enough_steps": "with too few steps for a verdict",
    }
    verdicts = [
        f"{summary.verdicts[verdict]:,} {text}"
        for verdict, text in words.items()
        if verdict in summary.verdicts
    ]
    if verdicts:
        found.append(f"Runs: {', '.join(verdicts)}.")
    if summary.no_data:
        found.append(
            f"{counted(summary.no_data, 'folder')} with event files had no steps to judge."
        )
    if summary.unreadable:
        found.append(f"{counted(summary.unreadable, 'run')} could not be read; see below.")
    return found


def summary_tables(summary: FleetSummary) -> list[SummaryTable]:
    """The tables, in the order in which they are shown; without empty ones."""

    def table(
        title: str,
        by: str,
        rows: Sequence[Row],
        name: Callable[[Row], str],
        *,
        newest: bool = False,
    ) -> SummaryTable:
        shown = rows[-_MOST_ROWS:] if newest else rows[:_MOST_ROWS]
        return SummaryTable(
            title, by, tuple(_row(summary, row, name(row)) for row in shown), len(rows) - len(shown)
        )

    tables = [
        table("By cause", "cause", summary.by_cause, lambda row: cause_title(row["cause"])),
        table("By program", "program", summary.by_program, _program),
        table("By team", "team", summary.by_team, lambda row: row["team"] or UNKNOWN),
        table(
            "By week", "week of", summary.by_week, lambda row: row["week"] or UNKNOWN, newest=True
        ),
        table("Most expensive lines", "line", summary.lines, _line),
    ]
    return [each for each in tables if each.rows]


def _row(summary: FleetSummary, row: Row, name: str) -> SummaryRow:
    lost = row["lost_hours"]
    own = row.get("run_hours")
    return SummaryRow(
        name=name,
        runs=row["runs"],
        lost_hours=lost,
        lost=hours(lost, summary.run_hours),
        share=percent(lost / summary.lost_hours) if summary.lost_hours else UNKNOWN,
        of_own=percent(lost / own) if own else "",
        cause=row.get("cause") or "",
    )


def _program(row: Row) -> str:
    program = row["program"] or UNKNOWN
    return f"{program} ({row['team']})" if row["team"] else program


def _line(row: Row) -> str:
    known = (row["function"], cause_title(row["cause"]), row["team"])
    return ", ".join([f"{row['file']}:{row['line']}", *filter(None, known)])


def hours(number: float, total: float) -> str:
    """Hours of a sum, with as many decimals as the sum needs.

    >>> hours(24310.4, 118000.0), hours(0.0295, 0.2)
    ('24,310', '0.0295')
    """
    decimals = 0 if total >= 1000 else 1 if total >= 100 else 2 if total >= 10 else 4
    return f"{number:,.{decimals}f}"
