"""What the report on a run from scalars says, in sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.causes import Cause, Unexplained
from tb_slowdown_plugin.analysis.report_types.observations import DrawnFrom
from tb_slowdown_plugin.analysis.scalars.pauses import Pauses
from tb_slowdown_plugin.analysis.scalars.step_rise import StepRise
from tb_slowdown_plugin.analysis.text.wording import (
    counted,
    duration,
    listed,
    percent,
    step_range,
    times,
    whole_percent,
)
from tb_slowdown_plugin.analysis.types import Diagnosis, Finding, Verdict
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Idle

WARM_UP: Final = "warm_up"
REMEDY: Final = (
    "To learn the cause, train with `tbslow run train.py`, or add "
    '`with tbslow.start("logs/run1"):` around the training loop.'
)


def describe_headline(
    verdict: Verdict, drawn: DrawnFrom, diagnosis: Diagnosis, wall: float, lost: float, rows: int
) -> str:
    """The one sentence above everything."""
    unit = drawn.unit
    match verdict:
        case "not_enough_steps":
            needed = max(diagnosis.steps_needed, rows + 1)
            return f"Not enough points yet: {rows:,} of about {needed:,}."
        case "healthy":
            return f"No slowdown found in {duration(wall)}: {unit}s are as fast as they were."
        case "slow_start":
            return f"Slow start: warm-up took {duration(lost)} of {duration(wall)}."
    start = f"{duration(lost)} of {duration(wall)} lost ({whole_percent(lost / wall)})"
    if drawn.onset_step is None:
        return f"{start} to slow {unit}s."
    return f"{start} since {unit} {drawn.onset_step:,}. The cause wasn't measured."


def describe_baseline(run: Run, diagnosis: Diagnosis, unit: str) -> str:
    """Where a healthy step was seen."""
    baseline = diagnosis.baseline
    text = baseline.provenance.replace("step", unit)
    if not np.isfinite(baseline.seconds) or not len(run.steps):
        return text
    first, last = (int(run.steps.number[row]) for row in baseline.rows)
    return f"{text} ({unit}s {step_range(first, last)})"


def describe_warm_up(run: Run, first: tuple[Finding, ...], wall: float) -> Iterable[Cause]:
    """The slow start, of which nothing else is known."""
    if not first:
        return
    unit = run.drawn_from.unit if run.drawn_from else "step"
    seconds = run.steps_per_row * sum(each.lost_seconds for each in first)
    rows = min(each.rows[0] for each in first), max(each.rows[1] for each in first)
    steps = int(run.steps.number[rows[0]]), int(run.steps.number[rows[1]])
    yield Cause(
        WARM_UP,
        seconds,
        seconds / wall,
        "warm_up",
        "low",
        steps,
        f"The first {unit}s took {duration(seconds)} more than later ones, until {unit} "
        f"{steps[1]:,}. What they were spent on wasn't measured.",
        (),
        (),
        subject="warm-up",
    )


def describe_onset(run: Run, rise: StepRise, unit: str) -> Unexplained:
    """Since when steps take longer."""
    number = run.steps.number
    first, last = int(number[rise.rows[0]]), int(number[rise.rows[1]])
    is_over = rise.rows[1] < len(number) - 1
    where = f"In {unit}s {step_range(first, last)}" if is_over else f"Since {unit} {first:,}"
    end = " at the end" if rise.pattern == "drift" else ""
    text = (
        f"{where} a {unit} takes {duration(rise.after_seconds)}{end}, before "
        f"{duration(rise.before_seconds)} ({times(rise.ratio)} as long)."
    )
    return Unexplained(rise.pattern, (first, last), text)


def describe_pauses(drawn: DrawnFrom, pauses: Pauses, wall: float) -> Iterable[str]:
    """What comes back, and is no loss as long as it stays alike."""
    if not pauses.count:
        return
    yield (
        f"{counted(pauses.count, 'pause')} of {duration(drawn.pause_seconds)} in all "
        f"({percent(drawn.pause_seconds / wall)}) come back evenly, as an evaluation or a save "
        "does. They count as lost only where they get longer."
    )
    if pauses.is_longer:
        width = drawn.steps_per_point
        yield (
            f"The pauses get longer: from {duration(width * pauses.first_seconds)} to "
            f"{duration(width * pauses.last_seconds)}."
        )


def describe_gaps(run: Run) -> Iterable[str]:
    """Where a run was resumed or stood still, in one sentence."""
    starts = [session.first_row for session in run.sessions[1:]]
    idle = sum(gap.seconds for _, gap in run.all_of(Idle))
    if starts:
        unit = run.drawn_from.unit if run.drawn_from else "step"
        places = listed([f"{unit} {int(run.steps.number[row]):,}" for row in starts])
        yield (
            f"Resumed at {places}, or stood still before: {duration(idle)} between points there "
            "are not in the wall time."
        )


def describe_source(drawn: DrawnFrom) -> str:
    """What the steps were drawn from."""
    mean = "" if drawn.steps_per_point == 1 else f", as the mean of {drawn.steps_per_point:,}"
    by = "the wall times of its points" if drawn.clock == "wall_times" else "its values"
    return (
        f"The {drawn.unit}s are drawn from the scalar `{drawn.tag}` of {drawn.writer}, timed by "
        f"{by}{mean}. Confidence is low."
    )
