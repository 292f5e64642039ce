"""What a table of many runs says of one: a verdict of a kilobyte instead of arrays."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.run_settings import settings_of
from tb_slowdown_plugin.analysis.report_types.report import Judged, Report, RunAccount
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Verdict
from tb_slowdown_plugin.records.run import Run

_SPARK_POINTS: Final = 40
_DIGITS: Final = 4
"""More are nothing that a table shows."""


@dataclass(frozen=True, slots=True)
class RunDigest:
    """A run in a table; the keys of the JSON are these fields."""

    verdict: Verdict
    judged: Judged
    headline: str
    lost_seconds: float
    lost_fraction: float
    wall_seconds: float
    cause: str | None
    """Id of what cost most, "unexplained" too; None where nothing was lost."""
    subject: str
    """The same as it stands in a headline: "retracing of train_step (train.py:41)"."""
    causes: tuple[str, ...]
    """Ids of all causes, the costliest first."""
    since_step: int | None
    """First step that the first cause cost time in."""
    since_seconds: float | None
    """How far into the run that is."""
    steps: int
    step_seconds: float | None
    """Median."""
    steps_per_second: float | None
    items_per_second: float | None
    """None where `items` were not told."""
    started: float | None
    """Unix seconds."""
    ended: float | None
    """Unix seconds at which the last step ended."""
    spark: tuple[float, ...]
    """Median step seconds of up to 40 equal parts of the run."""
    settings: Mapping[str, str | float] = field(default_factory=dict)
    """What the records tell of configuration and environment: versions, devices, batch."""


def digest_of(run: Run, account: RunAccount) -> RunDigest:
    """The digest of a run of which it is known where its time went."""
    report = account.report
    cause, since = _first_cause(report)
    row = _row_of(run, since)
    period = run.steps.period_seconds
    known = period[np.isfinite(period)]
    items = run.steps.items
    has_items = bool(len(items)) and bool(np.isfinite(items).all())
    total = float(known.sum())
    steps = report.steps * _steps_in_row(run)
    rate = steps / total if total > 0 else None
    return RunDigest(
        verdict=report.verdict,
        judged=report.judged,
        headline=report.headline,
        lost_seconds=_short(report.lost_seconds),
        lost_fraction=report.lost_fraction,
        wall_seconds=_short(report.wall_seconds),
        cause=cause,
        subject=next((one.subject for one in report.causes if one.cause == cause), ""),
        causes=tuple(report.lost_by_cause()),
        since_step=since,
        since_seconds=None if row is None else _short(float(np.nansum(period[:row]))),
        steps=steps,
        step_seconds=_short(float(np.median(known)) / _steps_in_row(run)) if len(known) else None,
        steps_per_second=None if rate is None else _short(rate),
        items_per_second=_short(float(items.sum()) / total) if has_items and total > 0 else None,
        started=min((session.started for session in run.sessions), default=None),
        ended=float(run.steps.ended[-1]) if len(run.steps) else None,
        spark=_spark(period),
        settings=settings_of(run),
    )


def _first_cause(report: Report) -> tuple[str | None, int | None]:
    """Id and first step of what cost most."""
    first = report.causes[0] if report.causes else None
    if report.unexplained_seconds > (first.lost_seconds if first else 0.0):
        if report.verdict == "healthy" and first is None:
            return None, None
        return UNEXPLAINED, report.unexplained.steps[0] if report.unexplained else None
    return (first.cause, first.steps[0]) if first else (None, None)


def _steps_in_row(run: Run) -> int:
    """How many steps the seconds of a row are of: those of a run from scalars are means."""
    return 1 if run.drawn_from else run.steps_per_row


def _row_of(run: Run, step: int | None) -> int | None:
    if step is None:
        return None
    rows = np.flatnonzero(run.steps.number == step)
    return int(rows[0]) if len(rows) else None


def _spark(period: np.typing.NDArray[np.float64]) -> tuple[float, ...]:
    parts = np.array_split(period, min(_SPARK_POINTS, len(period))) if len(period) else []
    known = [part[np.isfinite(part)] for part in parts]
    return tuple(_short(float(np.median(part))) for part in known if len(part))


def _short(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if math.isfinite(value) else value
