"""A pipeline works ahead on the cores that the step needs: no step waits, and all are slow."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.data import pipeline_evidence
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.text.wording import duration, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names


def claim(
    case: Case, claimed: tuple[Finding, ...], advice: tuple[Advice, ...], place: Place | None
) -> Claim:
    """Claims lost input seconds most of which are work beside the step.

    Args:
      case: The run.
      claimed: All findings of input.
      advice: For a pipeline that gives no batch in time.
      place: The function of the pipeline that takes the time, or the line that reads it.
    """
    work = next(each for each in claimed if each.source == names.INPUT_WORK)
    waits = tuple(each for each in claimed if each is not work)
    beside, alone = _levels(case, work)
    waited = lost_seconds(waits)
    return Claim(
        "input_pipeline",
        claimed,
        "input work on the step's cores",
        f"The pipeline computes on the cores that the step needs: steps take {duration(beside)} "
        f"while it works, and {duration(alone)} at the end of each epoch, when it has made all "
        "batches.",
        (
            tell(case, work),
            *(
                [f"Another {ledger_seconds(waited)} was lost to waiting for batches."]
                if waits
                else []
            ),
            *pipeline_evidence.tell_stage(case, work),
            *pipeline_evidence.tell_functions(case),
            *pipeline_evidence.tell_captured(case, work),
            *pipeline_evidence.tell_cache(case),
        ),
        advice,
        "medium",
        place=place,
    )


def tell(case: Case, work: Finding) -> str:
    """What it comes to."""
    seconds = work.lost_seconds
    return (
        f"{ledger_seconds(seconds)} ({percent(case.wall_share(seconds))} of the run) is what steps "
        "took longer than those at the end of epochs. Parallel stages and prefetching don't help "
        "while all cores are busy: less work per element does."
    )


def _levels(case: Case, work: Finding) -> tuple[float, float]:
    """What steps take (medians) beside the pipeline, and without it."""
    lost = work.lost_per_step
    beside = lost > 0
    longer = float(np.median(lost[beside]))
    alone = float(np.median(case.diagnosis.healthy_per_step[beside]))
    return alone + longer, alone
