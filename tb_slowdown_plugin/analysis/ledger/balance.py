"""Adds up: in every step, and in sum, wall = healthy + lost + unexplained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.types import Finding, Ledger
from tb_slowdown_plugin.records.types import Float


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
