"""What a run of few steps can show: what clocks measured, and changes that stand out of its noise.

Measured seconds need no series. A change of level does: the more the steps scatter, the more
of them it takes to see one.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.ledger.findings import (
    AT_START,
)
from tb_slowdown_plugin.analysis.stats.noise import deviation
from tb_slowdown_plugin.analysis.types import CORE, Finding
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.catalog.parameters.ledger import (
    CHANGE_OF_SHORT_RUN,
    FEWEST_STEPS_TO_JUDGE,
    FLAT_FLOOR,
    LEAST_EVENT_SECONDS,
    RECURRING_SHARE,
    SINGLE_SHARE,
    SURE_EVENTS,
    SURE_STEPS,
    VISIBLE_CHANGE,
)
from tb_slowdown_plugin.catalog.parameters.prepare import SLOW_FIRST_STEPS_OF_SHORT
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL
from tb_slowdown_plugin.catalog.parameters.stats import (
    SIGNIFICANCE_OF_SHORT,
)
from tb_slowdown_plugin.records.types import Float


def steps_needed(core: Float, usual: Float, start: int) -> int:
    """Steps that a run with this noise needs for a verdict, its first steps included.

    Two halves of n steps each, with standard deviation s, show a change d of their level with
    d / (2 s / sqrt(2 n)) standard errors.

    Args:
      core: (S,) seconds.
      usual: (S,) seconds that the step usually takes; NaN where nothing is known.
      start: First row that is not warm-up.

    Example:
      >>> quiet = np.full(20, 0.010)
      >>> steps_needed(quiet, quiet, 0), steps_needed(np.tile([0.01, 0.02], 10), quiet, 0)
      (12, 53)
    """
    fewest = FEWEST_STEPS_TO_JUDGE - SLOW_FIRST_STEPS_OF_SHORT
    known = (usual[start:] > 0) & (core[start:] > 0)
    relative = np.log(core[start:][known]) - np.log(usual[start:][known])
    if len(relative) < 2:
        return max(start + fewest, FEWEST_STEPS_TO_JUDGE)
    # Differences of neighbors: a change of level is no noise.
    noise = max(deviation(np.diff(relative)), float(np.diff(relative).std()) / 2) / np.sqrt(2)
    wanted = (2 * SIGNIFICANCE_OF_SHORT * noise / np.log1p(VISIBLE_CHANGE)) ** 2
    return max(start + int(np.clip(np.ceil(wanted), fewest, SURE_STEPS)), FEWEST_STEPS_TO_JUDGE)


def keep_certain(findings: Iterable[Finding], wall_seconds: float, rows: int) -> list[Finding]:
    """The findings that may be told of a run of fewer than `SURE_STEPS` steps.

    Args:
      findings: All that are above their floors.
      wall_seconds: Of the run.
      rows: Steps of the run.

    Returns:
      Warm-up; jumps, growth and repeats of what no account explains; measured seconds that
      recur and are much together, or that are much by themselves after the first step.
    """
    findings = list(findings)
    measured = [f for f in findings if f.source != CORE and f.pattern != "warm_up"]
    recurring = [f for f in measured if _recurs(f, rows)]
    together = sum(finding.lost_seconds for finding in recurring)
    certain = set()
    if together >= RECURRING_SHARE * wall_seconds:
        certain = {id(finding) for finding in recurring}
    certain |= {id(f) for f in measured if f.lost_per_step[1:].sum() >= SINGLE_SHARE * wall_seconds}
    certain |= {id(f) for f in findings if f.source == CORE and _stands_out(f, wall_seconds)}
    return [f for f in findings if id(f) in certain or f.pattern == "warm_up"]


def _stands_out(finding: Finding, wall_seconds: float) -> bool:
    """Whether a jump, growth, or what comes back is more than the slow noise of so few steps."""
    if finding.lost_seconds < FLAT_FLOOR * wall_seconds:
        return False
    return finding.pattern == "periodic" or (
        finding.pattern in ("level_shift", "drift")
        and not finding.numbers.get(AT_START)  # of so few steps it is warm-up
        and finding.numbers.get("growth_fraction", 0.0) >= CHANGE_OF_SHORT_RUN
    )


def _recurs(finding: Finding, rows: int) -> bool:
    """Whether it comes again and again, and not only by the noise of the clock."""
    lost = finding.lost_per_step
    events = int(finding.numbers.get("events", np.count_nonzero(lost)))
    if rule_of(finding.source).class_ == "never" and events >= SURE_EVENTS:
        return True
    enough = events >= SEVERAL or 2 <= rows - 1 <= events
    return enough and finding.lost_seconds >= LEAST_EVENT_SECONDS * events
