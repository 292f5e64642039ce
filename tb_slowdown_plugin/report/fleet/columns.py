"""The columns of the two tables of `tbslow fleet`: one row a run, and one a run and cause.

`docs/fleet.md` lists them; a test compares. A column that is added leaves `SCHEMA` as it is;
one that is removed, or means another thing, raises it.
"""

from __future__ import annotations

import datetime
from dataclasses import asdict
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from tb_slowdown_plugin._version import __version__
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.analysis.types import UNEXPLAINED
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.run_row import RunRow

SCHEMA: Final = 1

Row: TypeAlias = dict[str, Any]
"""Column -> value; None where it is not known."""

Status = Literal["judged", "no_data", "unreadable"]

Kind = Literal["text", "whole", "number", "flag", "time", "date"]


class Column(NamedTuple):
    """One column."""

    name: str
    kind: Kind
    means: str


_KEY: Final = (
    Column("logdir", "text", "the logdir, as it was given"),
    Column("run", "text", "the run's name in its logdir"),
)

RUN_COLUMNS: Final = (
    *_KEY,
    Column("status", "text", "`judged`, `no_data`, or `unreadable`"),
    Column("reason", "text", "why it was not judged"),
    Column(
        "team",
        "text",
        "first part of the name, without the time that `tbslow run` adds, or what `--team` finds",
    ),
    Column("program", "text", "file of the program, as records name it"),
    Column("week", "date", "Monday of the week (UTC) in which the run started"),
    Column("verdict", "text", "as in the report"),
    Column("judged", "text", "`whole` or `partly`, as in the report"),
    Column("wall_seconds", "number", "sum of all step periods"),
    Column("lost_seconds", "number", "including unexplained seconds"),
    Column("lost_fraction", "number", "`lost_seconds / wall_seconds`"),
    Column("unexplained_seconds", "number", "part of `lost_seconds`"),
    Column("accelerators", "whole", "devices other than CPUs, of all workers"),
    Column("accelerator_seconds", "number", "`wall_seconds * accelerators`"),
    Column("lost_accelerator_seconds", "number", "`lost_seconds * accelerators`"),
    Column("cause", "text", "id of what took most; `unexplained` too"),
    Column("subject", "text", "the same in words"),
    Column("since_step", "whole", "first step that it made slower"),
    Column("step_seconds", "number", "median of a step, 4 digits"),
    Column("healthy_step_seconds", "number", "a step when nothing is wrong"),
    Column(
        "items_per_second", "number", "examples, rows, or tokens, where the program reports them"
    ),
    Column("steps", "whole", "steps that ended"),
    Column("workers", "whole", "processes of the run"),
    Column("started", "time", "UTC"),
    Column("ended", "time", "UTC, end of the last step"),
    Column("source", "text", "`records` or `scalars`"),
    Column("folder", "text", "directory of the run's files in its logdir"),
    Column("written", "time", "UTC, when its newest file was written"),
    Column("bytes", "whole", "size of its event files"),
    Column("version", "text", "changes when one of its event files does"),
    Column("tbslow", "text", "version of tbslow that judged it"),
)

CAUSE_COLUMNS: Final = (
    *_KEY,
    Column("rank", "whole", "1 for the row of the run that took most; `unexplained` comes last"),
    Column("cause", "text", "id of the cause, or `unexplained`"),
    Column("subject", "text", "the same in words"),
    Column("lost_seconds", "number", "of one run these add up to its `lost_seconds`"),
    Column("lost_fraction", "number", "share of `wall_seconds`"),
    Column("lost_accelerator_seconds", "number", "`lost_seconds * accelerators`"),
    Column("pattern", "text", "as in the report"),
    Column("confidence", "text", "`high`, `medium`, or `low`"),
    Column("external", "flag", "whether other processes took the time"),
    Column("first_step", "whole", "first step that it made slower"),
    Column("last_step", "whole", "last one"),
    Column("file", "text", "of the line to change"),
    Column("line", "whole", "its number"),
    Column("function", "text", "the function there, or the call"),
)


class Rows(NamedTuple):
    """What a fleet's tables get of one stored run."""

    runs: list[Row]
    causes: list[Row]


def judged_rows(stored: StoredRun, row: RunRow, report: Report) -> tuple[Row, list[Row]]:
    """The row of a run, and the rows of its causes."""
    values = asdict(row)
    each = row.accelerators
    of_run: Row = {
        **unjudged_row(stored, "judged", None),
        **values,
        "week": _week(row.started),
        "started": _utc(row.started),
        "ended": _utc(row.ended),
        "accelerator_seconds": None if each is None else row.wall_seconds * each,
        "lost_accelerator_seconds": None if each is None else row.lost_seconds * each,
    }

    def cause_row(rank: int, cause: str, lost: float, **more: Any) -> Row:
        return {
            "logdir": stored.logdir,
            "run": row.run,
            "rank": rank,
            "cause": cause,
            "lost_seconds": lost,
            "lost_fraction": lost / row.wall_seconds if row.wall_seconds > 0 else 0.0,
            "lost_accelerator_seconds": None if each is None else lost * each,
            **more,
        }

    causes = [
        cause_row(
            rank,
            cause.cause,
            cause.lost_seconds,
            subject=cause.subject or None,
            pattern=cause.pattern,
            confidence=cause.confidence,
            external=cause.external,
            first_step=cause.steps[0],
            last_step=cause.steps[1],
            file=cause.place.file if cause.place else None,
            line=cause.place.line if cause.place else None,
            function=(cause.place.function or None) if cause.place else None,
        )
        for rank, cause in enumerate(report.causes, 1)
    ]
    if report.unexplained_seconds > 0:
        causes.append(cause_row(len(causes) + 1, UNEXPLAINED, report.unexplained_seconds))
    return of_run, causes


def unjudged_row(stored: StoredRun, status: Status, reason: str | None) -> Row:
    """The row of a run of which nothing but its files is known."""
    return {
        "logdir": stored.logdir,
        "run": stored.name,
        "status": status,
        "reason": reason,
        "folder": stored.name,
        "written": _utc(stored.modified or None),
        "bytes": stored.size,
        "version": stored.version,
        "tbslow": __version__,
    }


def _utc(seconds: float | None) -> datetime.datetime | None:
    if seconds is None:
        return None
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    except (OverflowError, ValueError, OSError):  # a stranger's clock
        return None


def _week(started: float | None) -> datetime.date | None:
    when = _utc(started)
    return when and when.date() - datetime.timedelta(days=when.weekday())
