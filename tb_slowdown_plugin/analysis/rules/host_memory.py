"""RAM is full: the process reads its own pages back from disk."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.advice import host_memory as advice
from tb_slowdown_plugin.analysis.rules.case import Case, Claim, Mask, lost_seconds
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.analysis.wording import count, duration, percent, size
from tb_slowdown_plugin.records.types import Float

_LEAST_FAULTS: Final = 1.0
"""Major faults a step, each a read from disk of 0.1 to 10 ms, from which a stretch is under
pressure; a healthy run has some at the start, and none later."""
_MOST: Final = 0.8
"""Share of a finding's seconds that must lie in such stretches."""


def explain(case: Case) -> Claim | None:
    """Claims slow steps that come with major page faults, while other steps have none."""
    pressed = _rows_under_pressure(case)
    if pressed is None or not pressed.any():
        return None
    start = case.diagnosis.warm_up_rows
    claimed = tuple(
        finding
        for finding in case.core()
        if _share_in(finding.lost_per_step, pressed) >= _MOST
        and np.mean(pressed[start:]) < _share_in(finding.lost_per_step, pressed)
    )
    if not claimed:
        return None
    return Claim(
        "host_memory",
        claimed,
        "full host memory",
        "RAM is full: the process waits for its own memory to be read back from disk.",
        tuple(_evidence(case, claimed, pressed)),
        advice.advise(),
        "medium",
    )


def _rows_under_pressure(case: Case) -> Mask | None:
    """(S,) whether the stretch between samples around a row has major faults in its steps."""
    rows, faults = case.signal("major_faults")
    distinct = np.append(np.diff(rows) > 0, True) if len(rows) else np.empty(0, bool)
    rows, faults = rows[distinct], faults[distinct]
    if len(rows) < 2:
        return None
    rate = np.diff(faults) / np.diff(rows)
    stretch = np.searchsorted(rows, np.arange(len(case.run.steps)), side="right") - 1
    known = (stretch >= 0) & (stretch < len(rate))
    pressed = np.zeros(len(case.run.steps), bool)
    pressed[known] = rate[stretch[known]] >= _LEAST_FAULTS
    return pressed


def _share_in(lost: Float, pressed: Mask) -> float:
    total = float(lost.sum())
    return float(lost[pressed].sum()) / total if total > 0 else 0.0


def _evidence(
    case: Case,
    claimed: tuple[Finding, ...],
    pressed: Mask,
) -> Iterable[str]:
    faults = case.signal("major_faults")[1]
    period = case.run.steps.period_seconds
    within = np.flatnonzero(pressed)
    others = ~pressed
    others[: case.diagnosis.warm_up_rows] = False
    yield (
        f"{count(faults[-1] - faults[0])} pages were read back from disk (major faults), in "
        f"{count(len(within))} of {count(len(period))} steps, the first of them "
        f"{case.step_text(int(within[0]))}."
    )
    if others.any():
        yield (
            f"The median of those steps takes {duration(float(np.median(period[pressed])))}, that "
            f"of the others {duration(float(np.median(period[others])))}."
        )
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    yield (
        f"{percent(_share_in(lost, pressed))} of the {duration(lost_seconds(claimed))} lie in "
        "those steps."
    )
    memory = case.signal("rss_bytes")[1]
    limit = case.run.environment.limits.get("memory_limit_bytes")
    if len(memory) and limit:
        yield f"The process used up to {size(float(memory.max()))} of {size(limit)}."
