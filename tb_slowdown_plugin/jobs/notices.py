"""What is new between two looks: each finding once, and once when it is over or withdrawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.jobs.watch import RunLook

SCHEMA: Final = 1
"""Raised when a program that reads a notice would have to change."""
_OVER_SECONDS: Final = 60.0
"""A cause that cost nothing in the newest steps of so much time is over. Chosen by hand."""
_MIN_SHARE: Final = 0.05
"""Share of the time since it begins from which a cause is news: smaller ones come and go with the
noise of the steps. Chosen by hand."""

Event = Literal["found", "over", "withdrawn"]
Kind = Literal["slowdown", "stall"]


@dataclass(frozen=True, slots=True)
class Notice:
    """One message to others; the keys of its JSON are these fields after `schema`."""

    event: Event
    kind: Kind
    run: str
    cause: str | None
    """A cause id; None of a stall."""
    title: str
    since_step: int | None
    since: float | None
    """Unix seconds; of a stall."""
    lost_seconds: float
    lost_fraction: float
    summary: str
    fix: str
    """The first thing to change, "" where nothing is known."""
    headline: str
    """Of the run."""
    text: str
    """The notice in one line."""


@dataclass(frozen=True, slots=True)
class _OpenNotice:
    """A finding that was told and is not over."""

    run: str
    since_step: int | None
    notice: Notice


class Notices:
    """Compares looks. Findings of runs that have ended before the first look aren't news."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], _OpenNotice] = {}

    def update(self, looks: Sequence[RunLook]) -> list[Notice]:
        """The notices that a look brings."""
        return list(self._update(looks))

    def _update(self, looks: Sequence[RunLook]) -> Iterator[Notice]:
        by_run = {look.report.run: look for look in looks}
        for key, known in list(self._open.items()):
            if key[0] not in by_run:  # deleted, or not readable at this look
                continue
            look = by_run[key[0]]
            end = _end_of(key[1], look)
            if end is not None:
                del self._open[key]
                yield _ended(known.notice, end, look)
        for look in looks:
            if look.is_live:
                yield from self._find(look)

    def _find(self, look: RunLook) -> Iterator[Notice]:
        report = look.report
        stall = report.stall
        if stall is not None and stall.account is None and (report.run, "stall") not in self._open:
            notice = Notice(
                event="found",
                kind="stall",
                run=look.title,
                cause=None,
                title="No step ends",
                since_step=report.as_of.step if report.as_of else None,
                since=stall.since,
                lost_seconds=stall.seconds,
                lost_fraction=0.0,
                summary=stall.text,
                fix="",
                headline=report.headline,
                text=f"{look.title}: {stall.text}",
            )
            yield self._remember(report.run, "stall", notice)
        for cause in report.causes if report.verdict == "slowdown" else ():
            is_news = (report.run, cause.cause) not in self._open and cause.pattern != "warm_up"
            if is_news and not _is_past(cause, report) and not _is_small(cause, report):
                yield self._remember(report.run, cause.cause, _found(cause, look))

    def _remember(self, run: str, name: str, notice: Notice) -> Notice:
        self._open[run, name] = _OpenNotice(run, notice.since_step, notice)
        return notice


def _found(cause: Cause, look: RunLook) -> Notice:
    report = look.report
    title = cause_title(cause.cause)
    fix = cause.advice[0].text if cause.advice else ""
    lost = _lost(cause.cause, report)
    told = f"{duration(lost['lost_seconds'])} lost ({percent(lost['lost_fraction'])})"
    return Notice(
        event="found",
        kind="slowdown",
        run=look.title,
        cause=cause.cause,
        title=title,
        since_step=cause.steps[0],
        since=None,
        **lost,
        summary=cause.summary,
        fix=fix,
        headline=report.headline,
        text=f"{look.title}: {title} since step {cause.steps[0]:,}, {told}. {cause.summary}",
    )


def _end_of(name: str, look: RunLook) -> tuple[Event, str] | None:
    """How a finding ended, and why; None while it lasts."""
    report = look.report
    if not look.is_live:
        return "over", "the run has ended"
    if name == "stall":
        return None if report.stall is not None else ("over", "steps end again")
    rows = [each for each in report.causes if each.cause == name]
    if not rows:
        return "withdrawn", "the steps since do not confirm it"
    if all(_is_past(each, report) for each in rows):
        last = max(each.steps[1] for each in rows)
        return "over", f"the steps since step {last:,} don't lose time to it"
    return None


def _ended(notice: Notice, end: tuple[Event, str], look: RunLook) -> Notice:
    event, why = end
    verb = "is over" if event == "over" else "is withdrawn"
    values = asdict(notice) | {
        "event": event,
        "headline": look.report.headline,
        "text": f"{look.title}: {notice.title} {verb}: {why}.",
    }
    if any(each.cause == notice.cause for each in look.report.causes):
        values |= _lost(str(notice.cause), look.report)
    return Notice(**values)


def _lost(name: str, report: Report) -> dict[str, float]:
    """What a cause took, all its rows together: a notice is of a cause."""
    rows = [each for each in report.causes if each.cause == name]
    return {
        "lost_seconds": sum(each.lost_seconds for each in rows),
        "lost_fraction": sum(each.lost_fraction for each in rows),
    }


def _is_past(cause: Cause, report: Report) -> bool:
    """Whether the newest steps of a minute lost nothing to it."""
    if report.as_of is None:
        return False
    return (report.as_of.step - cause.steps[1]) * _step_seconds(report) > _OVER_SECONDS


def _is_small(cause: Cause, report: Report) -> bool:
    """Whether it takes too little of the time since it begins."""
    if report.as_of is None:
        return False
    since = (report.as_of.step - cause.steps[0] + 1) * _step_seconds(report)
    return cause.lost_seconds < _MIN_SHARE * min(since, report.wall_seconds)


def _step_seconds(report: Report) -> float:
    return report.recent.seconds if report.recent else report.healthy_step_seconds or 0.0


def notice_body(notice: Notice) -> dict[str, Any]:
    """The JSON of a notice."""
    return {"schema": SCHEMA, **asdict(notice)}
