"""What the engine finds in the arrays of a run: its ledger and its findings.

Pure values. What is told of them is in `report_types`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from tb_slowdown_plugin.records.types import Float

Pattern = Literal[
    "warm_up", "flat", "level_shift", "drift", "periodic", "epoch_boundary", "one_off"
]

Confidence = Literal["high", "medium", "low"]

Verdict = Literal["healthy", "slow_start", "slowdown", "not_enough_steps"]

CORE: Final = "core"
"""Source of what no account explains."""

STALLS = "stalls"
"""Source of what the engine found too slow in single steps, in no pattern of its own."""

UNEXPLAINED = "unexplained"

CONFIRMING: Final = "confirming"
"""Key of its seconds beside the cause ids in `Account.lost_per_step`."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Time that one account, or the rest of the step, lost in one pattern.

    `S` is the number of steps of the run.
    """

    source: str
    """An account of `measured` ("tracing:again", "gc" ...), or "core": the step time
    that no account explains."""
    pattern: Pattern
    rows: tuple[int, int]
    """First and last row (inclusive) in which it costs time."""
    lost_seconds: float
    lost_per_step: Float
    """(S,) seconds lost to it in each step; sums up to `lost_seconds`."""
    confidence: Confidence
    numbers: Mapping[str, float] = field(default_factory=dict)
    """What the pattern was fitted with: "before_seconds", "after_seconds",
    "period_steps", "growth_fraction", "z" ..."""

    @property
    def comes_by_count(self) -> bool:
        """Whether it comes back with every so many steps, or with each epoch."""
        by_steps = self.pattern == "periodic" and "period_steps" in self.numbers
        return by_steps or self.pattern == "epoch_boundary"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What a healthy step of this run takes, and where that was seen."""

    seconds: float
    """Median period of a healthy step; NaN if there is no baseline."""
    provenance: str
    """"lowest level held for at least 5% of the run" ..."""
    rows: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Ledger:
    """Where the wall time went: `wall = healthy + sum(lost) + unexplained`."""

    wall_seconds: float
    healthy_seconds: float
    lost: Mapping[str, float]
    """finding source or cause id -> seconds"""
    unexplained_seconds: float


@dataclass(frozen=True, slots=True)
class NamedLoss:
    """What one cause cost, as far as arrays alone name it."""

    cause: str
    """A cause id; "unexplained" where no account holds the seconds."""
    pattern: Pattern
    steps: tuple[int, int]
    """First and last row (inclusive) in which it costs time."""
    lost_seconds: float
    confidence: Confidence


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What the engine says of arrays alone, before causes are named."""

    verdict: Verdict
    baseline: Baseline
    ledger: Ledger
    findings: tuple[Finding, ...]
    """Sorted by lost seconds, the largest first."""
    warm_up_rows: int
    """Rows before the run was steady; 0 without a warm-up."""
    healthy_per_step: Float
    """(S,)"""
    unexplained_per_step: Float
    """(S,)"""
    causes: tuple[NamedLoss, ...] = ()
    """The findings by cause, the costliest first; they lose as many seconds."""
    steps_needed: int = 0
    """Steps that a verdict needs, with the noise of this run."""


def sum_per_step(findings: Sequence[Finding], rows: int) -> Float:
    """(S,) seconds that findings lost in each step; not to be written into.

    Args:
      findings: May be none.
      rows: S.
    """
    if len(findings) == 1:
        return findings[0].lost_per_step  # a copy of ten million steps would be 80 MB
    total = np.zeros(rows)
    for finding in findings:
        total += finding.lost_per_step
    return total


def zero_where_unknown(seconds: Float) -> Float:
    """A column with 0 where nothing was measured; the column itself where all was.

    >>> zero_where_unknown(np.array([0.5, np.nan])).tolist()
    [0.5, 0.0]
    """
    # NaN is neither: to ask for the extremes takes a tenth of looking at each for itself.
    if len(seconds) and -np.inf < seconds.min() and seconds.max() < np.inf:
        return seconds
    return np.nan_to_num(seconds)
