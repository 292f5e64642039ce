"""Reports as text for a terminal or a log, 100 columns at most, the ledger as one bar."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tb_slowdown_plugin.analysis.causes.common.fixes import as_example
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Cause
from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import duration, ledger_seconds, percent, step_range
from tb_slowdown_plugin.analysis.types import Pattern
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.report.ansi import Ink, printable
from tb_slowdown_plugin.report.formats.program_lines import (
    NOTES_TITLE,
    describe_annotations,
    describe_python,
    python_title,
)

_INDENT: Final = "   "

_PATTERNS: Final[dict[Pattern, str]] = {
    "warm_up": "at the start",
    "flat": "throughout",
    "level_shift": "at a new level",
    "drift": "growing",
    "periodic": "every few steps",
    "epoch_boundary": "where epochs begin",
    "one_off": "once",
}

_MANY_ALIKE: Final = 4
"""Signals that are not measured for the same reason, from which they share a line."""

_UNCHANGED: Final = "Step time hasn't changed during this run."
_COULD_BE: Final = "To measure what a step could be: tbslow try --all PROGRAM."

HEALTHY: Final = "─"

UNEXPLAINED: Final = "░"

LETTERS: Final = "█▓▒▚▞▙▟"
"""Fills of the causes by rank: told apart without colour too."""


def to_text(reports: Sequence[Report], *, width: int = 80, colour: bool = False) -> str:
    """The text of reports.

    Args:
      reports: One a run.
      width: Columns; code is never wrapped.
      colour: With ANSI colours, for a terminal.
    """
    ink = Ink(colour)
    parts = [_report(report, width, ink) for report in reports]
    if len(reports) > 1:
        parts.insert(0, _overview(reports, width, ink))
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _overview(reports: Sequence[Report], width: int, ink: Ink) -> Iterator[str]:
    yield ink.strong(f"{len(reports)} runs")
    column = min(max(len(printable(report.run)) for report in reports), width // 3)
    for report in reports:
        verdict = _cut(printable(report.headline), width - column - 2)
        name = _cut(printable(report.run), column)
        yield f"{name:<{column}}  {ink.verdict(report.verdict, verdict)}"


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "\u2026"


def _report(report: Report, width: int, ink: Ink) -> Iterator[str]:
    yield ink.strong(printable(f"Run {report.run}"))
    for line in textwrap.wrap(printable(report.headline), width):
        yield ink.verdict(report.verdict, line)
    if report.step_rule is not None:
        yield from textwrap.wrap(printable(report.step_rule), width)
    for sentence in report.blind_spots:
        yield from textwrap.wrap(printable(sentence), width)
    if report.verdict == "healthy" and report.judged == "whole" and not _has_external(report):
        if report.steady:
            yield from textwrap.wrap(_UNCHANGED, width)
        if report.source == "records":
            yield from textwrap.wrap(_COULD_BE, width)
    if report.wall_seconds > 0:
        yield ""
        yield from _ledger(report, width, ink)
    if report.unexplained is not None and report.unexplained.pattern == "one_off":
        yield ""
        yield from textwrap.wrap(printable(report.unexplained.text), width)
    for rank, cause in enumerate(report.causes, start=1):
        yield ""
        yield from _cause(rank, cause, report.wall_seconds, width, ink)
    yield from _list(
        "Suspects (they move with the unexplained seconds, nothing more is proven)",
        [
            f"{cause_title(suspect.cause)}, "
            f"{_seconds(suspect.seconds, report.wall_seconds)}: {suspect.why}"
            for suspect in report.suspects
        ],
        width,
        ink,
    )
    yield from _list(python_title(report), describe_python(report), width, ink)
    yield from _list(NOTES_TITLE, describe_annotations(report), width, ink)
    yield from _list("Workers", [_worker(worker) for worker in report.workers], width, ink)
    yield from _list(
        "Not measured",
        list(_signals([state for state in report.signals if state.status != "measured"])),
        width,
        ink,
    )
    yield from _list("Notes", report.notes, width, ink)


def _ledger(report: Report, width: int, ink: Ink) -> Iterator[str]:
    healthy = report.wall_seconds - report.lost_seconds
    parts = [
        ("healthy", _rest(report), healthy),
        *((cause, cause_title(cause), lost) for cause, lost in report.lost_by_cause().items()),
        ("unexplained", cause_title("unexplained"), report.unexplained_seconds),
    ]
    parts = [part for part in parts if part[0] == "healthy" or part[2] > 0]
    yield draw_bar([(cause, seconds) for cause, _, seconds in parts], width - len(_INDENT), ink)
    fill = fills([cause for cause, _, _ in parts])
    wall = _seconds(report.wall_seconds, report.wall_seconds)
    for cause, title, seconds in parts:
        share = percent(seconds / report.wall_seconds)
        booked = _seconds(seconds, report.wall_seconds)
        yield f"{ink.fill(cause, fill[cause])} {title:<22}{booked:>14}{share:>8}"
    yield f"  {'Wall':<22}{wall:>14}{'':>8}  {report.steps:,} {_unit(report)}s"
    if report.healthy_step_seconds is not None:
        takes = f"A healthy {_unit(report)} takes {duration(report.healthy_step_seconds)}"
        step = f"{takes}: {report.baseline}."
        yield from textwrap.wrap(printable(step), width)


def _unit(report: Report) -> str:
    """What a step of the run is."""
    return report.scalars.unit if report.scalars else "step"


def _has_external(report: Report) -> bool:
    return any(cause.external for cause in report.causes)


def _rest(report: Report) -> str:
    """Without a baseline nobody knows whether the rest is healthy; nor where nobody could look."""
    if report.judged == "partly":
        return "Partly judged"
    return "Not judged yet" if report.verdict == "not_enough_steps" else "Healthy"


def _seconds(seconds: float, wall_seconds: float) -> str:
    """Seconds of a ledger: its terms have as many decimals as its sum needs.

    >>> _seconds(3.16, 4.59), _seconds(0.21, 0.228), _seconds(1740.0, 9300.0)
    ('3.16 s', '0.210 s', '1,740.0 s')
    """
    decimals = 3 if wall_seconds < 1 else 2 if wall_seconds < 10 else 1
    return f"{seconds:,.{decimals}f} s"


def _cause(rank: int, cause: Cause, wall_seconds: float, width: int, ink: Ink) -> Iterator[str]:
    title = cause_title(cause.cause)
    yield (
        f"{rank}. {ink.cause(cause.cause, title)}: {_seconds(cause.lost_seconds, wall_seconds)}, "
        f"{percent(cause.lost_fraction)} of the run, {cause.confidence} confidence"
    )
    noun = "Step" if cause.steps[0] == cause.steps[1] else "Steps"
    steps = f"{noun} {step_range(*cause.steps)}, {_PATTERNS[cause.pattern]}."
    yield from _paragraph(f"{steps} {cause.summary}", _INDENT, width)
    if cause.confirmed is not None:
        yield from _item(_sentence(cause.confirmed.text), width)
    for sentence in cause.evidence:
        yield from _item(sentence, width)
    for advice in cause.advice:
        yield from _advice(advice, width, ink)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _advice(advice: Advice, width: int, ink: Ink) -> Iterator[str]:
    first, *more = _paragraph(f"Fix: {advice.text}", _INDENT, width)
    yield first.replace("Fix:", ink.strong("Fix:"), 1)
    yield from more
    if advice.code:
        yield from _paragraph(f"{_heading(advice)}:", _INDENT, width)
    patch = [(line[:1], line) for line in advice.code.splitlines()]
    for sign, line in as_example(advice.code) if advice.kind == "example" else patch:
        yield _INDENT * 2 + ink.code(printable(line), sign)
    if advice.price not in ("", "None."):
        yield from _paragraph(f"Trade-off: {advice.price}", _INDENT, width)


def _heading(advice: Advice) -> str:
    """What stands above the code."""
    title = "Change" if advice.kind == "patch" else "Example"
    return f"{title}, {advice.where}" if advice.where else title


def _signals(states: Sequence[SignalState]) -> Iterator[str]:
    """One line a signal, or one for all that share a reason."""
    reasons = Counter((state.status, state.reason) for state in states)
    for (status, reason), number in reasons.items():
        same = [state for state in states if (state.status, state.reason) == (status, reason)]
        if reason and number >= _MANY_ALIKE:
            names = ", ".join(state.signal for state in same)
            yield _signal(replace(same[0], signal=names))
        else:
            yield from map(_signal, same)


def _signal(state: SignalState) -> str:
    status = {"partly": " in part", "off": " (off)", "failed": " (failed)"}.get(state.status, "")
    return f"{state.signal}{status}: {state.reason}" if state.reason else state.signal + status


def _worker(worker: Mapping[str, Any]) -> str:
    step = worker["step_seconds"]
    parts = [
        f"{worker['steps']:,} steps" + (f" (median {duration(step)})" if step is not None else ""),
        *(
            [f"waits {ledger_seconds(worker['wait_seconds'])} in all"]
            if worker["wait_seconds"] is not None
            else ["its waiting was not measured"]
        ),
        *(
            [f"the others wait {ledger_seconds(worker['others_wait_seconds'])} for it"]
            if worker["straggler"]
            else []
        ),
        *([worker["reading"]] if worker["wait_seconds"] is not None else []),
    ]
    return f"Worker {worker['worker']}: {', '.join(parts)}"


def _list(title: str, items: Sequence[str], width: int, ink: Ink) -> Iterator[str]:
    if items:
        yield ""
        yield from map(ink.strong, textwrap.wrap(title, width))
        for item in items:
            yield from _item(item, width)


def _item(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        printable(text), width, initial_indent=_INDENT + "- ", subsequent_indent=_INDENT + "  "
    )


def _paragraph(text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, initial_indent=indent, subsequent_indent=indent)


def fills(causes: Sequence[str]) -> dict[str, str]:
    """Cause id -> the character that fills its piece of the bar.

    >>> fills(["healthy", "retracing", "unexplained"])
    {'healthy': '─', 'retracing': '█', 'unexplained': '░'}
    """
    ranked = [cause for cause in causes if cause not in ("healthy", "unexplained")]
    found = {cause: LETTERS[rank % len(LETTERS)] for rank, cause in enumerate(ranked)}
    return {
        cause: {"healthy": HEALTHY, "unexplained": UNEXPLAINED}.get(cause) or found[cause]
        for cause in causes
    }


def draw_bar(parts: Sequence[tuple[str, float]], width: int, ink: Ink) -> str:
    """The bar: each part as wide as its share of the sum, at least one column.

    >>> draw_bar([("healthy", 7.0), ("retracing", 2.0), ("unexplained", 1.0)], 10, Ink(False))
    '───────██░'
    """
    total = sum(max(seconds, 0.0) for _, seconds in parts)
    if total <= 0:
        return ""
    columns = [max(1, int(width * max(seconds, 0.0) / total)) for _, seconds in parts]
    widest = columns.index(max(columns))
    columns[widest] = max(1, columns[widest] + width - sum(columns))
    fill = fills([cause for cause, _ in parts])
    return "".join(
        ink.fill(cause, fill[cause] * columns[index]) for index, (cause, _) in enumerate(parts)
    )
