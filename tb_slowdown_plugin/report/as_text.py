"""Reports as text for a terminal or a log, 100 columns at most."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Final

from tb_slowdown_plugin.analysis.causes import CAUSES
from tb_slowdown_plugin.analysis.types import Advice, Cause, Report
from tb_slowdown_plugin.analysis.wording import duration, ledger_seconds, percent, step_range
from tb_slowdown_plugin.report.bar import draw_bar, fills
from tb_slowdown_plugin.report.ink import Ink, printable

_INDENT: Final = "   "
_STATUS: Final = {
    "partly": "measured in part",
    "unavailable": "not measured",
    "off": "off",
    "failed": "failed",
}


def to_text(reports: Sequence[Report], *, width: int = 80, colour: bool = False) -> str:
    """The text of reports.

    Args:
      reports: One a run.
      width: Columns; code is never wrapped.
      colour: With ANSI colours, for a terminal.
    """
    ink = Ink(colour)
    return "\n\n".join("\n".join(_report(report, width, ink)) for report in reports) + "\n"


def _report(report: Report, width: int, ink: Ink) -> Iterator[str]:
    yield ink.strong(printable(f"Run {report.run}"))
    yield from _wrapped(ink.verdict(report.verdict), printable(report.headline), "", width)
    if report.wall_seconds > 0:
        yield ""
        yield from _ledger(report, width, ink)
    for rank, cause in enumerate(report.causes, start=1):
        yield ""
        yield from _cause(rank, cause, width, ink)
    yield from _list(
        "Suspects (they move with unexplained seconds; not proven)",
        [
            f"{CAUSES.get(suspect.cause, suspect.cause)}, {ledger_seconds(suspect.seconds)}: "
            f"{suspect.why}"
            for suspect in report.suspects
        ],
        width,
        ink,
    )
    yield from _list("Workers", [_worker(worker) for worker in report.workers], width, ink)
    yield from _list(
        "Not measured",
        [
            f"{state.signal}: {_STATUS[state.status]}" + f", {state.reason}" * bool(state.reason)
            for state in report.signals
            if state.status in _STATUS
        ],
        width,
        ink,
    )
    yield from _list("Notes", [*_completeness(report), *report.notes], width, ink)


def _ledger(report: Report, width: int, ink: Ink) -> Iterator[str]:
    healthy = report.wall_seconds - report.lost_seconds
    parts = [
        ("healthy", "Healthy", healthy),
        *((c.cause, CAUSES.get(c.cause, c.cause), c.lost_seconds) for c in report.causes),
        ("unexplained", CAUSES["unexplained"], report.unexplained_seconds),
    ]
    parts = [part for part in parts if part[0] == "healthy" or part[2] > 0]
    yield draw_bar([(cause, seconds) for cause, _, seconds in parts], width - len(_INDENT), ink)
    fill = fills([cause for cause, _, _ in parts])
    for cause, title, seconds in parts:
        share = percent(seconds / report.wall_seconds)
        yield f"{ink.fill(cause, fill[cause])} {title:<22}{ledger_seconds(seconds):>14}{share:>9}"
    yield f"  {'Wall':<22}{ledger_seconds(report.wall_seconds):>14}{'':>9}  {report.steps:,} steps"
    if report.healthy_step_seconds is not None:
        step = f"A healthy step takes {duration(report.healthy_step_seconds)}: {report.baseline}."
        yield from textwrap.wrap(printable(step), width)


def _cause(rank: int, cause: Cause, width: int, ink: Ink) -> Iterator[str]:
    title = CAUSES.get(cause.cause, cause.cause)
    facts = (
        f"{ledger_seconds(cause.lost_seconds)}, {percent(cause.lost_fraction)} of the run, "
        f"steps {step_range(*cause.steps)}, {cause.confidence} confidence"
    )
    yield f"{rank}. {ink.cause(cause.cause, title)}: {facts}"
    yield from _paragraph(cause.summary, _INDENT, width)
    for sentence in cause.evidence:
        yield from _item(sentence, width)
    for advice in cause.advice:
        yield from _advice(advice, width, ink)


def _advice(advice: Advice, width: int, ink: Ink) -> Iterator[str]:
    yield from _wrapped(ink.strong("Fix:"), printable(advice.text), _INDENT, width)
    for line in advice.code.splitlines():
        yield _INDENT * 2 + ink.code(printable(line))
    if advice.price:
        yield from _paragraph(f"Price: {advice.price}", _INDENT, width)


def _worker(worker: object) -> str:
    if not isinstance(worker, dict):
        return str(worker)
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in worker.items())


def _completeness(report: Report) -> list[str]:
    missing = report.completeness.get("missing_chunks", 0)
    if not missing:
        return []
    written = missing + report.completeness.get("chunks", 0)
    return [
        f"{missing:,} of {written:,} records are missing: the steps in them are in no figure here."
    ]


def _list(title: str, items: Sequence[str], width: int, ink: Ink) -> Iterator[str]:
    if items:
        yield ""
        yield ink.strong(title)
        for item in items:
            yield from _item(item, width)


def _item(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        printable(text), width, initial_indent=_INDENT + "- ", subsequent_indent=_INDENT + "  "
    )


def _paragraph(text: str, indent: str, width: int) -> list[str]:
    return textwrap.wrap(printable(text), width, initial_indent=indent, subsequent_indent=indent)


def _wrapped(label: str, text: str, indent: str, width: int) -> list[str]:
    """A paragraph that begins with a label, whose colour codes take no column."""
    plain = Ink.plain(label)
    lines = textwrap.wrap(f"{plain} {text}", width, initial_indent=indent, subsequent_indent=indent)
    return [lines[0].replace(plain, label, 1), *lines[1:]]
