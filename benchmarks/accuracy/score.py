"""Compares what the engine said of a run with what was done to it."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import lgamma

import numpy as np

from benchmarks.accuracy.defects import PATTERNS
from benchmarks.accuracy.quiet import Run
from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.causes.correlated_signals import find_companions
from tb_slowdown_plugin.analysis.prepare.steps import as_samples
from tb_slowdown_plugin.analysis.types import Diagnosis, Finding


@dataclass
class Score:
    """What was right and wrong about one run."""

    run: str
    account: str
    """The account that the defect was in, "" for the core."""
    steps: int
    found: bool
    """The defect was found in its pattern (and account)."""
    false_patterns: set[str] = field(default_factory=set)
    """Patterns that were found without being there."""
    misplaced: float = float("nan")
    """Distance of the change from the truth, as a share of the run."""
    seconds_error: float = float("nan")
    """Difference of lost seconds from the truth, as a share of the truth."""
    wrong_blame: float = 0.0
    """Seconds lost to what was not there, or beyond what was, as a share of the wall."""
    top_right: bool = False
    unexplained: float = 0.0
    """As a share of the wall."""
    verdict: str = ""
    named: list[tuple[str, bool]] = field(default_factory=list)
    """Confidence of each finding, and whether it was right."""
    companions: dict[str, set[str]] = field(default_factory=dict)
    """Signal -> how it was said to move with a jump or growth of the core."""


def judge(run: Run) -> Diagnosis:
    """What the engine says of a run."""
    return diagnose(
        run.step_seconds(),
        run.measured,
        signals=run.signals,
        epochs=run.epochs,
        kinds=run.kinds,
        items=run.items,
    )


def score(run: Run) -> Score:
    """Judges a run and compares."""
    diagnosis = judge(run)
    wall = diagnosis.ledger.wall_seconds
    right = [finding for finding in diagnosis.findings if _is_right(run, finding)]
    wrong = [finding for finding in diagnosis.findings if not _is_right(run, finding)]
    result = Score(
        run.defect, run.source, len(run.base), bool(right), {each.pattern for each in wrong}
    )
    result.verdict = diagnosis.verdict
    result.named = [(each.confidence, _is_right(run, each)) for each in diagnosis.findings]
    samples = {
        name: as_samples(name, column, len(run.base)) for name, column in run.signals.items()
    }
    for finding in diagnosis.findings:
        for companion in find_companions(finding, diagnosis, samples):
            result.companions.setdefault(companion.signal, set()).add(companion.how)
    result.unexplained = diagnosis.ledger.unexplained_seconds / wall
    blamed = sum(finding.lost_seconds for finding in wrong)
    if run.lost is not None:
        truth = float(run.lost.sum())
        claimed = sum(finding.lost_seconds for finding in right)
        blamed += max(0.0, claimed - truth)
        result.seconds_error = abs(claimed + sum(w.lost_seconds for w in wrong) - truth) / truth
        result.top_right = bool(diagnosis.findings) and _is_right(run, diagnosis.findings[0])
        if right:
            if PATTERNS[run.defect][0] == "level_shift":
                result.misplaced = abs(right[0].rows[0] - run.onset) / len(run.base)
            elif PATTERNS[run.defect][0] == "warm_up":
                result.misplaced = abs(diagnosis.warm_up_rows - run.onset) / len(run.base)
    result.wrong_blame = blamed / wall
    return result


def _is_right(run: Run, finding: Finding) -> bool:
    if run.lost is None:
        return False
    pattern = PATTERNS[run.defect][0]
    return finding.source == (run.source or "core") and pattern in (finding.pattern, "any")


def interval(hits: int, trials: int) -> tuple[float, float]:
    """Clopper and Pearson's 95 % interval of a share, by bisection of the binomial tails."""
    ways = np.array(
        [lgamma(trials + 1) - lgamma(k + 1) - lgamma(trials - k + 1) for k in range(trials + 1)]
    )

    def tail(probability: float, least: int) -> float:
        k = np.arange(least, trials + 1)
        logs = np.log(probability) * k + np.log1p(-probability) * (trials - k)
        return float(np.exp(ways[least:] + logs).sum())

    def solve(least: int, level: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if tail(middle, least) < level else (low, middle)
        return low

    if trials == 0:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else solve(hits, 0.025)
    high = 1.0 if hits == trials else solve(hits + 1, 0.975)
    return low, high


def quantile(values: list[float], share: float) -> float:
    """A quantile of the values that are known; NaN without any."""
    known = [value for value in values if not np.isnan(value)]
    return float(np.quantile(known, share)) if known else float("nan")
