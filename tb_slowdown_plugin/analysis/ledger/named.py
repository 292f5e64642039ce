"""Names what the engine found, as far as arrays alone allow.

The report knows more: names of functions, events, other signals. Its rules
(`rules/`) give evidence and advice, and name what no clock measured. Here a
finding is named by the account it stands in, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tb_slowdown_plugin.analysis.types import Finding, NamedLoss
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION

UNNAMED: Final = "unexplained"

_CAUSES: Final[dict[str, str]] = {
    names.INPUT_WAIT: "input_pipeline",
    names.TRACING: "retracing",
    names.FIRST_EXECUTION: "retracing",
    names.PREDICT: "retracing",
    names.GC: "garbage_collection",
    names.CALLBACK: "callbacks",
    "callbacks": "callbacks",
    names.SUMMARY: "callbacks",
    names.VALIDATION: "callbacks",
    names.CHECKPOINT: "checkpointing",
    names.COMMUNICATION: "communication",
    names.XLA_COMPILATION: "xla_compilation",
    names.BACKWARD: "backward_pass",
    names.OPTIMIZER: "optimizer_state",
    CONTENTION: "cpu_contention",
}
"""Family of accounts -> cause id."""


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


def cause_of_account(account: str) -> str | None:
    """The cause id that an account alone points to, None if there is none.

    >>> cause_of_account("input_wait"), cause_of_account("forward")
    ('input_pipeline', None)
    """
    return _CAUSES.get(names.family(account))


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
