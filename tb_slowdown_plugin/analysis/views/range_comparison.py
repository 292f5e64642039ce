"""What moved with it: rows of a run against the four times longer stretch before them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.timing_text import least_of_work
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.stats.quantiles import median, quantiles
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import collectors, names
from tb_slowdown_plugin.catalog.accounts import account_title, cause_of_account
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.parameters.shared import (
    ALIKE,
    ENOUGH_STEPS,
    MAJORITY,
    MATTERS,
    NEGLIGIBLE,
    SEVERAL,
    STANDS_OUT,
)
from tb_slowdown_plugin.catalog.parameters.views import AS_LONG, LEAST_OF_STEP
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Int

_BEFORE: Final = 4
_BLOCKS: Final = 20
"""Blocks of rows in the selection whose means show how much seconds usually vary: single rows
would not do, for what happens every tenth step is in none of the others."""
_MOST_OF_COURSE: Final = 20_000
"""Values that tell a slope and a variation to 1%; sorting a million more would take 40 ms."""
_NORMAL_90: Final = 1.2816
"""The 90th percentile of a normal distribution, in standard deviations."""
_LEAST_VARIATION: Final = 0.002
"""Share of the largest value below which a variation is none."""
_MOST_STRENGTH: Final = 1000.0

Kind = Literal["changed", "trend", "same"]
_RANK: Final[dict[Kind, int]] = {"changed": 0, "trend": 1, "same": 2}


@dataclass(frozen=True, slots=True)
class _Series:
    """One thing that was measured before the selection and in it."""

    id: str
    title: str
    unit: str
    per_step: bool
    by: Literal["median", "mean"]
    before: tuple[Float, Float]
    """(B,) rows and (B,) values without NaN, ascending."""
    here: tuple[Float, Float]
    least: float = 0.0
    """A smaller difference is none."""
    recurs: bool = False
    """Whether it comes now and then: as often in the selection as ever before, and as long."""


def changed(run: Run, account: RunAccount, first: int, last: int) -> dict[str, Any]:
    """The body of the route `changed`, ready for JSON; `server/http_api.md` has its keys.

    Every row of both stretches counts, whatever the screen shows.

    Args:
      run: The run of which rows were selected.
      account: What `account_for(run)` said of it.
      first: First row of the selection, 0 to `rows - 1`.
      last: Last row of the selection, inclusive, `first` to `rows - 1`.

    Returns:
      Plain dicts, lists, numbers and None; `changes` is empty where fewer than three
      rows lie before the selection.

    Raises:
      ValueError: `first` or `last` is out of range.
    """
    if not 0 <= first <= last < len(run.steps):
        msg = f"rows {first} to {last} asked of {len(run.steps)}; 0 <= first <= last < rows"
        raise ValueError(msg)
    start = max(0, first - _BEFORE * (last + 1 - first))
    compared = (
        [_compared(series, run, first) for series in _series(run, account, start, first, last + 1)]
        if first - start >= SEVERAL
        else []
    )
    compared.sort(key=lambda one: (_RANK[one["kind"]], -one["strength"]))
    return {
        "run": run.name,
        "first": first,
        "last": last,
        "before_first": start,
        "before_last": first - 1 if first > start else None,
        "changes": compared,
    }


def _series(run: Run, account: RunAccount, start: int, first: int, end: int) -> Iterable[_Series]:
    found = [
        *_of_rows(run, account, start, first, end),
        *_of_signals(run, start, first, end),
    ]
    return (one for one in found if min(len(one.before[1]), len(one.here[1])) >= SEVERAL)


def _of_rows(run: Run, account: RunAccount, start: int, first: int, end: int) -> Iterable[_Series]:
    steps = run.steps
    usual = median(steps.period_seconds[start:first])
    width = max(1, (end - first) // _BLOCKS)

    def seconds(id_: str, title: str, values: Float) -> _Series:
        sides = _blocks(values, start, first, width), _blocks(values, first, end, width)
        recurs = _recurs(values[:end], first)
        return _Series(id_, title, "seconds", True, "mean", *sides, LEAST_OF_STEP * usual, recurs)

    before, here = slice(start, first), slice(first, end)
    yield _Series(
        "step_time",
        "Step time",
        "seconds",
        True,
        "median",
        _known(np.arange(start, first, dtype=np.float64), steps.period_seconds[before]),
        _known(np.arange(first, end, dtype=np.float64), steps.period_seconds[here]),
    )
    for cause, lost in account.lost_per_step.items():
        if lost[start:end].any():
            name = cause_title(cause)
            title = "Unexplained time" if cause == "unexplained" else f"Lost to {_lower(name)}"
            yield seconds(cause, title, lost)
    for name, values in steps.accounts.items():
        if (values[start:end] > 0.0).any() and not _is_told(name, values, account, start, end):
            yield seconds(f"account:{name}", account_title(name), values)
    yield seconds("process_cpu", "CPU time of all threads", steps.process_cpu_seconds)
    yield seconds("thread_cpu", "CPU time of the training thread", steps.thread_cpu_seconds)


def _is_told(name: str, values: Float, account: RunAccount, start: int, end: int) -> bool:
    """Whether all seconds of an account are lost to one cause: it is the same thing twice."""
    lost = account.lost_per_step.get(cause_of_account(name) or "")
    if lost is None:
        return False
    apart = zero_where_unknown(values[start:end]) - lost[start:end]
    return bool(np.abs(apart, out=apart).sum() <= NEGLIGIBLE * lost[start:end].sum())


def _recurs(values: Float, first: int) -> bool:
    """Whether seconds that few rows have came as often before row `first`, and took as long.

    Of a save each 100 steps there is one in 71 steps, or none; the number is that of a fair
    draw of the rows in which it ever came.
    """
    size = len(values)
    most = float(values.max())
    if not np.isfinite(most):
        values = zero_where_unknown(values)
        most = float(values.max())
    # A row of work takes at most so much, and at least a part of that part. Of a million rows it
    # takes a tenth of the time to know that most are such rows, or to look at the few that may be.
    work = NEGLIGIBLE * most
    if most <= 0.0 or np.count_nonzero(values[first:] > work) > ENOUGH_STEPS:
        return False
    if np.count_nonzero(values > work) > MAJORITY * size:
        return False
    rows = np.flatnonzero(values > NEGLIGIBLE * work)
    hit = rows[values[rows] > least_of_work(values[rows])]
    before, here = hit[hit < first], hit[hit >= first]
    if len(before) < 2 or len(hit) > MAJORITY * size:
        return False
    share = (size - first) / size
    expected = len(hit) * share
    if abs(len(here) - expected) >= STANDS_OUT * max(1.0, np.sqrt(expected * (1.0 - share))):
        return False
    if not len(here):
        return True
    ratio = median(values[here]) / median(values[before])
    return 1.0 / AS_LONG <= ratio <= AS_LONG


def _lower(title: str) -> str:
    """In the middle of a sentence; abbreviations stay."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _blocks(values: Float, begin: int, end: int, width: int) -> tuple[Float, Float]:
    """Means of equally many rows; what is left over at the end counts as one more block."""
    part = values[begin:end]
    edges = np.arange(0, len(part), width)
    sums = np.add.reduceat(part, edges)
    counts = np.diff(edges, append=len(part)).astype(np.float64)
    if np.isnan(sums).any():
        known = ~np.isnan(part)
        counts = np.add.reduceat(known, edges, dtype=np.float64)
        sums = np.add.reduceat(np.where(known, part, 0.0), edges)
    full = counts > 0
    return (begin + edges[full]).astype(np.float64), sums[full] / counts[full]


def _of_signals(run: Run, start: int, first: int, end: int) -> Iterable[_Series]:
    """Samples by the steps that they have seen: one taken before the selection began is before."""
    row = run.signals.row
    low, high = np.searchsorted(row, [start, end + 1])
    rows = row[low:high]
    for name, values in run.signals.values.items():
        signal = collectors.signal(name)
        per_step = bool(signal and signal.cumulative)
        part = values[low:high]
        known = ~np.isnan(part)
        if per_step:
            sides = _rates(rows[known], part[known], first)
        else:
            at, seen = rows[known].astype(np.float64), part[known]
            inside = at > first
            sides = (at[~inside], seen[~inside]), (at[inside], seen[inside])
        device = names.detail(name)
        title = signal.title if signal else name
        yield _Series(
            name,
            f"{title}, {device}" if signal and device else title,
            signal.unit if signal else "count",
            per_step,
            "median",
            *sides,
        )


_Side = tuple[Float, Float]


def _rates(rows: Int, totals: Float, first: int) -> tuple[_Side, _Side]:
    """What a count adds a step between samples; one that fell began anew, and is left out."""
    last_of_row = np.append(rows[1:] != rows[:-1], True) if len(rows) else np.empty(0, bool)
    rows, totals = rows[last_of_row], totals[last_of_row]
    rises = np.diff(totals)
    begins, ends = rows[:-1], rows[1:]
    rates = rises / np.maximum(1, ends - begins)
    before, here = (rises >= 0) & (ends <= first), (rises >= 0) & (begins >= first)
    at = begins.astype(np.float64)
    return (at[before], rates[before]), (at[here], rates[here])


def _known(rows: Float, values: Float) -> _Side:
    if not np.isnan(values.sum()):
        return rows, values
    known = ~np.isnan(values)
    return rows[known], values[known]


def _compared(series: _Series, run: Run, first: int) -> dict[str, Any]:
    rows, old = series.before
    before, here = _spread(series, old), _spread(series, series.here[1])
    difference = here["level"] - before["level"]
    slope, variation = _course(series)
    gap = float(series.here[0].mean() - rows.mean())
    surprise = abs(difference - slope * gap)
    strength = min(_MOST_STRENGTH, abs(difference) / variation)
    differs = (
        not series.recurs
        and strength >= STANDS_OUT
        and abs(difference) > ALIKE * abs(before["level"])
        and abs(difference) > series.least
    )
    goes_on = slope != 0.0 and surprise < max(MATTERS * abs(difference), STANDS_OUT * variation)
    kind: Kind = "same" if not differs else "trend" if goes_on else "changed"
    return {
        "id": series.id,
        "title": series.title,
        "unit": series.unit,
        "per_step": series.per_step,
        "by": series.by,
        "before": before,
        "here": here,
        "difference": difference,
        "strength": round(strength, 2),
        "kind": kind,
        "reading": _reading(kind, series, run, first, before["level"], here["level"]),
    }


def _level(series: _Series, values: Float) -> float:
    return median(values) if series.by == "median" else float(values.mean())


def _spread(series: _Series, values: Float) -> dict[str, float]:
    low, middle, high = quantiles(values, (0.1, 0.5, 0.9))
    level = middle if series.by == "median" else float(values.mean())
    return {"low": low, "level": level, "high": high}


def _course(series: _Series) -> tuple[float, float]:
    """The slope a row of the stretch before, and the usual variation around that line."""
    thinned = slice(None, None, 1 + len(series.before[1]) // _MOST_OF_COURSE)
    rows, values = series.before[0][thinned], series.before[1][thinned]
    half = len(values) // 2
    if half < 1:
        return 0.0, float(np.finfo(float).eps)
    rise = _level(series, values[half:]) - _level(series, values[:half])
    run = float(rows[half:].mean() - rows[:half].mean())
    slope = rise / run if run > 0 else 0.0
    around = values - slope * (rows - rows.mean())
    low, high = quantiles(around, (0.1, 0.9))
    usual = (high - low) / 2 / _NORMAL_90
    least = _LEAST_VARIATION * float(np.abs(around).max())
    return slope, max(usual, least, float(np.finfo(float).eps))


def _reading(kind: Kind, series: _Series, run: Run, first: int, before: float, here: float) -> str:
    if kind == "same" and series.recurs:
        return "comes as often as before"
    if kind == "same":
        return "within its usual variation"
    rises = here > before
    if kind == "trend":
        return "continues its earlier trend"
    rows, values = series.here
    early = _level(series, values[: max(2, -(-len(values) // 10))])
    arrived = abs(early - here) < abs(early - before)
    if before == 0.0 and series.by == "mean":
        row = int(rows[np.flatnonzero(values)[0]])
        return f"begins at step {int(run.steps.number[row]):,}"
    if arrived:
        return f"{'jumps' if rises else 'drops'} at step {int(run.steps.number[first]):,}"
    return f"{'rises' if rises else 'falls'} inside the selection"
