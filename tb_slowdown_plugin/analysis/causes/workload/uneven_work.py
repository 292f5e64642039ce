"""Steps that compute now more, now less: how much they have to do isn't known.

An episode that is played in eager code, with a call of the model for each move, is a step without
any function that could be counted; one that a `tf.function` plays is a loop in its graph. Episodes
that get longer are no slowdown, and look like one.
"""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.prepare.step_kinds import (
    FAST_AND_SLOW,
    are_uneven,
    looping_functions,
)
from tb_slowdown_plugin.analysis.text.blind_spots import BlindSpot
from tb_slowdown_plugin.analysis.text.wording import duration, listed, percent
from tb_slowdown_plugin.analysis.types import Finding


def split_uneven(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(steps of uneven work, the rest) of the findings, before any rule is asked.

    Args:
      case: with all findings of the engine.
    """
    found = [*(each for each in case.core() if each.pattern != "warm_up"), *case.stalls()]
    if not found or not are_uneven(case.run, case.diagnosis.warm_up_rows):
        return (), case.findings
    return case.part(found)


def tell_uneven(case: Case, uneven: tuple[Finding, ...]) -> tuple[BlindSpot, ...]:
    """That longer steps are not judged, and what would change that."""
    if not uneven:
        return ()
    period = case.run.steps.period_seconds[case.diagnosis.warm_up_rows :]
    fast, slow = (duration(float(each)) for each in np.quantile(period, FAST_AND_SLOW))
    longer = lost_seconds(uneven)
    share = percent(case.wall_share(longer))
    looping = [f"`{each}`" for each in looping_functions(case.run)]
    why = (
        f"their work is that of a loop which ends by its data, in {listed(looping)}"
        if looping
        else "they run no function that could be counted"
    )
    return (
        BlindSpot(
            f"steps take {fast} to {slow} in no order, and how much work each has isn't known",
            f"Steps take {fast} to {slow} in no order, and {why}. "
            f"That they get longer may be more work: {duration(longer)}, {share} of the run, "
            "aren't judged. To have them judged, tell the work of a step, such as the length of "
            "an episode: `tbslow.summary.step(items=...)`.",
        ),
    )
