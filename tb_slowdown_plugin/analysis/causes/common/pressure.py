"""Steps under a pressure that was sampled beside them, and the findings that lie in those steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.causes.common.context import Case, Mask
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.text.wording import count, duration, percent, rises
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.shared import MOSTLY, SEVERAL
from tb_slowdown_plugin.catalog.parameters.stats import SMALLEST_CHANGE
from tb_slowdown_plugin.records.types import Float, Int

Value = TypeVar("Value", bound=np.generic)


def rows_by_rate(
    case: Case, signal: str, is_pressed: Callable[[Float], Mask], *, per_second: bool = False
) -> Mask:
    """(S,) whether a count rises too fast between the samples around a row.

    Args:
      case: the run.
      signal: name of a signal that counts up.
      is_pressed: rises per step, one for each stretch between samples -> whether that is
        pressure.
      per_second: rises per second of wall time instead.
    """
    rows, values = _distinct(*case.signal(signal))
    if len(rows) < 2:
        return np.zeros(len(case.run.steps), bool)
    over = np.diff(rows).astype(np.float64)
    if per_second:
        clock = np.append(0.0, np.cumsum(case.run.steps.period_seconds))
        over = np.maximum(np.diff(clock[rows]), 1e-9)
    pressed = is_pressed(np.diff(values) / over)
    return _spread(case, rows, np.append(pressed, False))


def rows_by_level(case: Case, signal: str, is_pressed: Callable[[Float], Mask]) -> Mask:
    """(S,) whether the last sample before a row says that there is pressure.

    In a step that lasts for several samples most of these say it.

    Args:
      case: the run.
      signal: name of a signal.
      is_pressed: values of the samples -> whether that is pressure.
    """
    rows, values = case.signal(signal)
    if not len(rows):
        return np.zeros(len(case.run.steps), bool)
    pressed = _spread(case, *_distinct(rows, is_pressed(values)))
    long, first, samples = np.unique(rows, return_index=True, return_counts=True)
    during = np.add.reduceat(is_pressed(values).astype(np.int64), first) > samples / 2
    inside = (samples >= SEVERAL) & (long < len(pressed))
    pressed[long[inside]] = during[inside]
    return pressed


def lying_in(
    case: Case, pressed: Mask, findings: Iterable[Finding] | None = None
) -> tuple[Finding, ...]:
    """Findings (core and stalls, unless others are given) that lie in such steps for the most.

    Where nearly all steps are under pressure it tells nothing, so more of a finding's
    seconds than of the steps must lie there.
    """
    steady = pressed[case.diagnosis.warm_up_rows :]
    if not steady.any():
        return ()
    usual = float(np.mean(steady))
    return tuple(
        finding
        for finding in ((*case.core(), *case.stalls()) if findings is None else findings)
        if share_in(finding.lost_per_step, pressed) >= max(MOSTLY, (1 + SMALLEST_CHANGE) * usual)
    )


def share_in(lost: Float, pressed: Mask) -> float:
    """Share of lost seconds (S,) that lies in the steps of a mask (S,)."""
    total = float(lost.sum())
    return float(lost[pressed].sum()) / total if total > 0 else 0.0


def tell_medians(case: Case, pressed: Mask) -> Iterable[str]:
    """How long steps take under pressure, and how long without."""
    period = case.run.steps.period_seconds
    others = ~pressed
    others[: case.diagnosis.warm_up_rows] = False
    if not others.any() or not pressed.any():
        return
    inside, outside = median(period[pressed]), median(period[others])
    if rises(outside, inside):
        yield (f"Those steps take {duration(inside)}, all others {duration(outside)} (medians).")


def tell_share(claimed: tuple[Finding, ...], pressed: Mask) -> Iterable[str]:
    """How much of what was lost lies in such steps."""
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    share = percent(share_in(lost, pressed))
    yield f"{share} of the {duration(float(lost.sum()))} lost is in those steps."


def tell_rows(case: Case, pressed: Mask) -> str:
    """How many of the steps, and the first: "312 of 600 steps, starting at step 288"."""
    within = np.flatnonzero(pressed)
    return (
        f"{count(len(within))} of {count(len(pressed))} steps, starting at "
        f"{case.step_text(int(within[0]))}"
    )


def _distinct(rows: Int, values: NDArray[Value]) -> tuple[Int, NDArray[Value]]:
    """Without samples after which no step ended before the next one."""
    last = np.append(np.diff(rows) > 0, True) if len(rows) else np.empty(0, bool)
    return rows[last], values[last]


def _spread(case: Case, rows: Int, pressed: Mask) -> Mask:
    """From samples to rows: a sample taken after r steps speaks for row r and those after it."""
    size = len(case.run.steps)
    spread = np.zeros(size, bool)
    if len(rows):
        sample = np.searchsorted(rows, np.arange(size), side="right") - 1
        known = sample >= 0
        spread[known] = pressed[sample[known]]
    return spread
