"""A pipeline works ahead on the cores that the step needs: no step waits, and all are slow."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds
from tb_slowdown_plugin.analysis.causes.data import pipeline_evidence
from tb_slowdown_plugin.analysis.report_types.causes import Advice, Place
from tb_slowdown_plugin.analysis.text.wording import duration, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import STAGE
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MAJORITY, MOSTLY


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


def tell_work_beside(case: Case) -> Iterable[str]:
    """Of a pipeline that computes for most of each step, where nothing shows what it takes."""
    seconds, busy = _work_beside(case)
    if seconds > 0:
        yield (
            f"By tf.data's own model the input pipeline computes for {duration(seconds)} of each "
            f"step, and {percent(busy)} of the cores are in use: the step may take longer by it. "
            "How much can't be told from the steps, as all of them have it; `tbslow try --only "
            "input_free` measures it."
        )


def tell_work_beside_shortly(case: Case) -> str:
    """The same in a headline."""
    seconds, _ = _work_beside(case)
    if not seconds:
        return ""
    return (
        "But its input is made beside each step, on cores that are in use: `tbslow try --only "
        "input_free` tells what that takes."
    )


def _work_beside(case: Case) -> tuple[float, float]:
    """Seconds of each step in which the slowest stage computes, and the share of the cores in use.

    Zeros where that is less than half of a step, or where cores are free, or the step is on another
    device.
    """
    steps, environment = case.run.steps, case.run.environment
    facts = case.run.facts(STAGE)
    cores = environment.limits.get("cpu_count", 0.0)
    if not (facts and cores and environment.is_cpu_alone) or len(steps) < ENOUGH_STEPS:
        return 0.0, 0.0
    row, fact = facts[-1]
    made = fact.numbers["seconds_per_element"] * fact.numbers["elements"]
    seconds = min(made / (row + 1), float(np.median(steps.period_seconds)))
    known = ~np.isnan(steps.process_cpu_seconds) & (steps.period_seconds > 0)
    used = steps.process_cpu_seconds[known] / (cores * steps.period_seconds[known])
    busy = float(np.median(used)) if len(used) else 0.0  # not by an end of a pass, which waits
    if seconds < MAJORITY * float(np.median(steps.period_seconds)) or busy < MOSTLY:
        return 0.0, 0.0
    return seconds, min(busy, 1.0)


def _levels(case: Case, work: Finding) -> tuple[float, float]:
    """What steps take (medians) beside the pipeline, and without it."""
    lost = work.lost_per_step
    beside = lost > 0
    longer = float(np.median(lost[beside]))
    alone = float(np.median(case.diagnosis.healthy_per_step[beside]))
    return alone + longer, alone
