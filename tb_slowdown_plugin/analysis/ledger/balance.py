"""Adds up: in every step, and in sum, wall = healthy + lost + unexplained.

A finding is named here by the account it stands in, and by nothing else: arrays tell no more.
The report knows names of functions, events, and other signals. Its rules (`analysis/causes/`)
give evidence and advice, and name what no clock measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.types import (
    Finding,
    Ledger,
    NamedLoss,
)
from tb_slowdown_plugin.catalog.accounts import cause_of_account
from tb_slowdown_plugin.records.types import Float

UNNAMED: Final = "unexplained"


def balance(
    seconds: Float, findings: Sequence[Finding], unexplained: Float
) -> tuple[Ledger, tuple[Finding, ...], Float, Float]:
    """Makes the ledger of a run.

    Where findings claim more than a step took, all of them are scaled down in
    that step; what nothing claims is healthy.

    Args:
      seconds: (S,) step times.
      findings: What was lost, and in which steps.
      unexplained: (S,) seconds that are too slow for no known reason.

    Returns:
      The ledger, the findings (the largest first), healthy seconds (S,) and
      unexplained seconds (S,).
    """
    claimed = unexplained.copy()
    for finding in findings:
        claimed += finding.lost_per_step
    over = claimed > seconds
    if over.any():
        keep = np.ones_like(seconds)
        keep[over] = seconds[over] / claimed[over]
        unexplained = unexplained * keep
        findings = [_with_losses(finding, finding.lost_per_step * keep) for finding in findings]
    lost: dict[str, float] = {}
    healthy = seconds - unexplained
    for finding in findings:
        lost[finding.source] = lost.get(finding.source, 0.0) + finding.lost_seconds
        healthy -= finding.lost_per_step
    np.maximum(healthy, 0.0, out=healthy)
    wall = float(seconds.sum())
    beyond = float(unexplained.sum())
    ledger = Ledger(wall, wall - sum(lost.values()) - beyond, lost, beyond)
    ordered = tuple(sorted(findings, key=lambda finding: -finding.lost_seconds))
    return ledger, ordered, healthy, unexplained


def _with_losses(finding: Finding, lost_per_step: Float) -> Finding:
    return replace(finding, lost_per_step=lost_per_step, lost_seconds=float(lost_per_step.sum()))


def name_losses(findings: Sequence[Finding]) -> tuple[NamedLoss, ...]:
    """Groups findings by cause, the costliest first.

    A cause takes pattern and confidence of its largest finding, and the steps of all of them.

    Args:
      findings: Of one run.

    Returns:
      What was lost for no account that has a name is "unexplained".
    """
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(_cause(finding), []).append(finding)
    losses = [_sum_up(cause, group) for cause, group in groups.items()]
    return tuple(sorted(losses, key=lambda loss: -loss.lost_seconds))


def _cause(finding: Finding) -> str:
    if finding.pattern == "warm_up":
        return "warm_up"
    return cause_of_account(finding.source) or UNNAMED


def _sum_up(cause: str, group: Sequence[Finding]) -> NamedLoss:
    largest = max(group, key=lambda finding: finding.lost_seconds)
    return NamedLoss(
        cause=cause,
        pattern=largest.pattern,
        steps=(min(f.rows[0] for f in group), max(f.rows[1] for f in group)),
        lost_seconds=sum(finding.lost_seconds for finding in group),
        confidence=largest.confidence,
    )
