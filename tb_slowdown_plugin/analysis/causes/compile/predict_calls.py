"""Keras's `predict` on a few batches: functions and threads made anew in each call."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common import recreated_objects as advice
from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, largest
from tb_slowdown_plugin.analysis.causes.common.plain_accounts import tell_seconds
from tb_slowdown_plugin.analysis.causes.common.timing_text import cadence, working_rows
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names


def claim(case: Case, claimed: tuple[Finding, ...], predicting: tuple[Finding, ...]) -> Claim:
    """The cause, where such calls are most of what is claimed.

    Args:
      case: the run.
      claimed: findings in the accounts of tracing, first executions and `predict`.
      predicting: those of `predict`; not empty.
    """
    main = largest(predicting)
    place = names.detail(main.source)
    seconds = case.account(names.PREDICT, place)
    rows = working_rows(seconds)
    often = cadence(rows, len(case.run.steps))
    others = tuple(finding for finding in claimed if finding not in predicting)
    return Claim(
        "retracing",
        claimed,
        f"calls of predict ({place})",
        f"`predict` is called at {place} {often}, on a few examples: "
        f"{duration(float(np.median(seconds[rows])))} a step go into the call, beside what the "
        "model computes.",
        (
            *tell(case, predicting),
            *tell_seconds(case, others, "went into tracing and first runs of other functions"),
        ),
        advice.instead_of_predict(),
        "high",
    )


def tell(case: Case, predicting: tuple[Finding, ...]) -> Iterable[str]:
    """What calls of `predict` took, and why."""
    for finding in predicting:
        place = names.detail(finding.source)
        yield from tell_seconds(case, (finding,), f"went into calling `predict` at {place}")
    if predicting:
        yield (
            "Each call makes a dataset of its arguments, traces the functions of that dataset "
            "again, starts its threads and stops them. What the model computes is not counted."
        )
