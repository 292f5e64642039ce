"""How often and for how long, in words: patterns in time, and the seconds of an account."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import CORE, Case, largest, lost_seconds
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import stack_sets
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import (
    count,
    counted,
    duration,
    ledger_seconds,
    percent,
    rises,
)
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PYTHON_STACK, SLOW_STEP
from tb_slowdown_plugin.catalog.parameters.ledger import REGULAR_GAP
from tb_slowdown_plugin.catalog.parameters.shared import (
    MAJORITY,
    MOSTLY,
    NEARLY_ALL,
    NEGLIGIBLE,
    NOTABLE_GROWTH,
)
from tb_slowdown_plugin.records.types import Float, Int

_MOST_PHASES: Final = 3
"""Rows in a period in which the same work comes (analysis/periods: so many repeats are found)."""


def cadence(rows: Sequence[int] | Int, span_rows: int) -> str:
    """How often something happens: "at every step", "every 40 steps", "in 12 of 380 steps".

    Args:
      rows: the rows in which it happened, ascending; a row may come twice.
      span_rows: rows of the stretch in which it could have happened.

    Example:
      >>> cadence(range(3, 300), 300), cadence(range(0, 400, 40), 400), cadence([3, 5, 90], 400)
      ('at every step', 'every 40 steps', 'in 3 of 400 steps')
    """
    sorted_rows = np.asarray(rows, np.int64)
    # `np.unique` hashes: 0.6 s for a callback that works in each of 1,000,000 steps.
    is_new = np.diff(sorted_rows, prepend=-1) > 0
    if np.count_nonzero(is_new) >= NEARLY_ALL * span_rows and span_rows > 1:
        return "at every step"
    distinct = sorted_rows[is_new]
    if len(distinct) >= 4:
        gaps = np.diff(distinct)
        usual = float(np.median(gaps))
        if usual >= 2 and np.mean(np.abs(gaps - usual) <= REGULAR_GAP * usual) >= MOSTLY:
            return f"every {round(usual):,} steps"
    if len(distinct) == 1:
        return "once"
    return f"in {len(distinct):,} of {span_rows:,} steps"


def usual_and_often(case: Case, finding: Finding) -> tuple[str, str]:
    """What a finding takes at a time (median), and how often: ("26.2 ms", "every 80 steps")."""
    rows = working_rows(finding.lost_per_step)
    return (
        duration(float(np.median(finding.lost_per_step[rows]))),
        cadence(rows, len(case.run.steps)),
    )


def course(case: Case, finding: Finding, series: Float) -> str:
    """How the seconds a step of `series` run in the pattern of a finding, with numbers.

    Args:
      case: gives steps their numbers.
      finding: the pattern and its rows.
      series: (S,) seconds a step, of which the finding is a pattern.
    """
    first, last = finding.rows
    inside = series[first : last + 1]
    match finding.pattern:
        case "level_shift":
            start = min(case.diagnosis.warm_up_rows, first)
            before, after, how = _set_apart(series[start:first], inside)
            if rises(before, after):
                return (
                    f"{duration(before)} per step before {case.step_text(first)} and "
                    f"{duration(after)} since then ({how})"
                )
        case "drift":
            tenth = max(1, len(inside) // 10)
            before, after, how = _set_apart(inside[:tenth], inside[-tenth:])
            if rises(before, after):
                return (
                    f"{duration(before)} per step around {case.step_text(first)}, "
                    f"{duration(after)} around {case.step_text(last)} ({how})"
                )
        case "periodic" | "epoch_boundary":
            # What its first steps took only because the run had just begun is warm-up, so what
            # was lost is told; of the step itself, of which a part is lost, the series.
            seconds = series if finding.source == CORE else finding.lost_per_step
            hit = working_rows(finding.lost_per_step)
            if len(hit) == 1:
                return f"{duration(float(seconds[hit[0]]))} in {case.step_text(int(hit[0]))}"
            what = "at the start of each epoch" if finding.pattern == "epoch_boundary" else ""
            return (
                f"{duration(float(np.mean(seconds[hit])))} on average in the {len(hit):,} steps "
                f"in which it happens{', ' + what if what else ''}"
            )
        case "one_off":
            lost = min(float(inside.sum()), finding.lost_seconds)
            return f"{duration(lost)} in {case.steps_text(finding.rows)}"
    each = float(np.mean(finding.lost_per_step[first : last + 1]))
    return f"{duration(each)} per step on average in {case.steps_text(finding.rows)}"


def _set_apart(early: Float, late: Float) -> tuple[float, float, str]:
    """What a step takes in two stretches, by one statistic, and its name.

    The median says what steps do, whatever a first batch took; where most steps take nothing,
    it says nothing, and the mean is told.
    """
    typical = np.median(late) >= MAJORITY * np.mean(late) if len(late) else True
    of, name = (np.median, "medians") if typical else (np.mean, "means")
    before, after = (float(of(part)) if len(part) else float("inf") for part in (early, late))
    return before, after, name


def tell_rise(case: Case, what: str, levels: tuple[float, float], rows: tuple[int, int]) -> str:
    """What a step takes at both ends of rows, where that is more at the end; else "".

    Args:
      case: gives steps their numbers.
      what: "Step time".
      levels: typical seconds at the first and at the last of the rows.
      rows: first and last row.
    """
    before, after = levels
    if not rises(before, after):
        return ""
    return (
        f"{what} grew from {duration(before)} (around {case.step_text(rows[0])}) to "
        f"{duration(after)} (around {case.step_text(rows[1])})"
    )


def working_rows(seconds: Float) -> Int:
    """Rows in which something really worked, where it is called in every step.

    A callback that saves every 20 steps takes 10 us in the steps between.

    >>> working_rows(np.array([0.00001, 0.18, 0.00001, 0.17])).tolist()
    [1, 3]
    >>> working_rows(np.array([7.8, 0.9, 0.2, 0.9, 0.2])).tolist()
    [0, 1, 2, 3, 4]
    """
    return np.flatnonzero(seconds > least_of_work(seconds))


def least_of_work(seconds: Float) -> float:
    """Seconds from which on a row of (S,) is one in which something really ran.

    A part of what such a row usually takes: the first call may take a hundred times as long.
    """
    ran = seconds[seconds > NEGLIGIBLE * float(seconds.max(initial=0.0))]
    return NEGLIGIBLE * median(ran) if len(ran) else 0.0


def grows_at_intervals(case: Case) -> tuple[tuple[Finding, ...], Int]:
    """(findings, (N,) their rows) of work that comes back and takes longer each time.

    Nothing where it stays alike, or came too few times to tell.

    Args:
      case: its findings in the core with a period, or where epochs begin, are looked at.
    """
    start = case.diagnosis.warm_up_rows
    found = []
    rows = np.zeros(len(case.run.steps), bool)
    for finding in case.core():
        if finding.pattern not in ("periodic", "epoch_boundary"):
            continue
        where = _rows_of_work(finding)
        where = where[where >= start]
        if grows(finding.lost_per_step[where]):
            found.append(finding)
            rows[where] = True
    return tuple(found), np.flatnonzero(rows)


def _rows_of_work(finding: Finding) -> Int:
    """The rows in which it came: by a count of steps also those in which it took nothing yet."""
    rows = working_rows(finding.lost_per_step)
    period = round(finding.numbers.get("period_steps", 0.0))
    phases = np.unique(rows % period) if period else rows
    if not period or len(phases) > _MOST_PHASES:
        return rows
    return np.flatnonzero(np.isin(np.arange(len(finding.lost_per_step)) % period, phases))


def growth(seconds: Sequence[float] | Float) -> float:
    """How many times as long the last quarter takes as the first; 1 where it is not longer.

    >>> growth([1.0] * 8), growth([1, 1, 2, 2, 3, 3, 4, 4])
    (1.0, 4.0)
    """
    seconds = np.asarray(seconds)
    quarter = max(1, len(seconds) // 4)
    first = median(seconds[:quarter]) if grows(seconds) else 0.0
    ratio = median(seconds[-quarter:]) / first if first > 0 else 1.0
    return ratio if ratio >= 1 + NOTABLE_GROWTH else 1.0


def tell_seconds(case: Case, claimed: tuple[Finding, ...], what: str) -> Iterable[str]:
    """One sentence for each account: its seconds, its share, its course.

    Args:
      case: the run.
      claimed: findings in accounts of one family or of several.
      what: the verb phrase that follows the seconds: "went into compiling".
    """
    for source in dict.fromkeys(finding.source for finding in claimed):
        parts = tuple(finding for finding in claimed if finding.source == source)
        seconds = lost_seconds(parts)
        series = case.account(names.family(source), names.detail(source))
        yield (
            f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) {what}: "
            f"{course(case, largest(parts), series)}."
        )


def tell_looks(case: Case, line: str, waits: Sequence[str]) -> Iterable[str]:
    """How often the training thread was seen to wait in a line: in slow steps, and by samples.

    Args:
      case: The run.
      line: Function and line, as facts name them.
      waits: Numbers of `PYTHON_STACK` that count as waiting.
    """
    slow = sum(fact.subject == line for _, fact in case.run.facts(SLOW_STEP))
    if slow:
        verb = "was" if slow == 1 else "were"
        yield f"{counted(slow, 'slow step')} {verb} in that line when sampled."
    samples = [fact.numbers for _, fact in case.run.facts(PYTHON_STACK) if fact.subject == line]
    if samples:
        seen = sum(numbers.get(each, 0.0) for numbers in samples for each in waits)
        of = sum(each.of for each in stack_sets(case.run))
        yield f"In {count(seen)} of {count(of)} samples of its stack it waited there."
