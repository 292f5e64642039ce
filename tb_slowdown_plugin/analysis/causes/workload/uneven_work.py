"""Eager steps that compute now more, now less: how much they have to do isn't known.

An episode that is played in eager code, with a call of the model for each move, is a step without
any function that could be counted. Episodes that get longer are no slowdown, and look like one.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.prepare.step_kinds import EAGER_GRADIENTS
from tb_slowdown_plugin.analysis.text.blind_spots import BlindSpot
from tb_slowdown_plugin.analysis.text.wording import duration, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, NEARLY_ALL, SERIES
from tb_slowdown_plugin.records.types import Float

_BLOCK: Final = SERIES
"""Steps that follow each other, whose times are compared."""
_FAST_AND_SLOW: Final = (MATTERS, 1 - MATTERS)
"""Quantiles of the times in a block, so that neither one stall nor one short step counts."""


def split_uneven(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(steps of uneven work, the rest) of the findings, before any rule is asked.

    Args:
      case: with all findings of the engine.
    """
    found = [finding for finding in case.core() if finding.pattern in ("level_shift", "drift")]
    if not found or not _is_uneven(case):
        return (), case.findings
    ids = {id(finding) for finding in found}
    return tuple(found), tuple(finding for finding in case.findings if id(finding) not in ids)


def tell_uneven(case: Case, uneven: tuple[Finding, ...]) -> tuple[BlindSpot, ...]:
    """That longer steps are not judged, and what would change that."""
    if not uneven:
        return ()
    period = case.run.steps.period_seconds[case.diagnosis.warm_up_rows :]
    fast, slow = (duration(float(each)) for each in np.quantile(period, _FAST_AND_SLOW))
    longer = lost_seconds(uneven)
    share = percent(case.wall_share(longer))
    return (
        BlindSpot(
            f"steps take {fast} to {slow} in no order, and how much work each has isn't known",
            f"Steps take {fast} to {slow} in no order, and run no function that could be counted. "
            f"That they get longer may be more work: {duration(longer)}, {share} of the run, "
            "aren't judged. To have them judged, tell the work of a step, such as the length of "
            "an episode: `tbslow.summary.step(items=...)`.",
        ),
    )


def _is_uneven(case: Case) -> bool:
    steps = case.run.steps
    told = bool(np.all(steps.items > 0)) or bool(steps.kind.any())
    if told or not len(steps.ran) or steps.calls.any():
        return False
    if np.mean(steps.ran == EAGER_GRADIENTS) < NEARLY_ALL:
        return False
    # By what the thread computes: other processes make the time of any step uneven.
    computed = steps.thread_cpu_seconds[case.diagnosis.warm_up_rows :]
    return _spread(computed[np.isfinite(computed)]) >= 1 + MATTERS


def _spread(seconds: Float) -> float:
    """How many times as much slow steps take as fast ones that are near them, typically."""
    count = len(seconds) // _BLOCK
    if not count:
        return 1.0
    blocks = seconds[: count * _BLOCK].reshape(count, _BLOCK)
    fast, slow = np.quantile(blocks, _FAST_AND_SLOW, axis=1)
    return float(np.median(slow[fast > 0] / fast[fast > 0])) if (fast > 0).any() else 1.0
