"""Parts of the data of which each begins later than the one before, behind a stage that works."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Claim, lost_seconds, to_place
from tb_slowdown_plugin.analysis.causes.common.places.stage_lines import is_made_anew, line_of_kind
from tb_slowdown_plugin.analysis.causes.common.programs.program import Program
from tb_slowdown_plugin.analysis.causes.common.timing_text import working_rows
from tb_slowdown_plugin.analysis.causes.data import epoch_stages, pipeline_evidence
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import counted, duration, ledger_seconds, percent
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names

_STAGE = "Skip"


class SkippedParts(NamedTuple):
    """The waits for parts of the data, in order."""

    rows: tuple[int, int]
    """Of the first and of the last part that is waited for."""
    seconds: tuple[float, float]
    """For these."""
    times: int
    place: str
    """The line of the `skip`."""


def find(case: Case, claimed: tuple[Finding, ...], main: Finding) -> SkippedParts | None:
    """None where no work comes before a `skip`, none is made anew, or waits don't get longer.

    Args:
      case: The run.
      claimed: All findings in input wait.
      main: The largest.
    """
    pipeline = Program.of(case.run).pipeline
    place = line_of_kind(case, _STAGE)
    at_parts = main.pattern in ("epoch_boundary", "periodic")
    if not (
        at_parts and pipeline is not None and pipeline.skips_work and is_made_anew(case, place)
    ):
        return None
    lost = np.sum([finding.lost_per_step for finding in claimed], axis=0)
    rows = working_rows(lost)
    if not grows(lost[rows]):
        return None
    first, last = int(rows[0]), int(rows[-1])
    wait = case.account(names.INPUT_WAIT)
    return SkippedParts((first, last), (float(wait[first]), float(wait[last])), len(rows), place)


def claim(case: Case, claimed: tuple[Finding, ...], parts: SkippedParts) -> Claim:
    """Claims the lost input wait."""
    lost = lost_seconds(claimed)
    first, last = (
        f"{duration(seconds)} in {case.step_text(row)}"
        for row, seconds in zip(parts.rows, parts.seconds, strict=True)
    )
    return Claim(
        "input_pipeline",
        claimed,
        f"computing what `skip` drops: {parts.place}",
        f"Each part of the data begins later than the one before, and `skip` in {parts.place} is "
        "behind stages that compute: all that it drops is computed first.",
        (
            f"{ledger_seconds(lost)} ({percent(case.wall_share(lost))} of the run) was lost to "
            "input wait, timed at the call that fetches each batch.",
            f"{counted(parts.times, 'wait')} that keep getting longer: {first}, {last}.",
            *pipeline_evidence.tell_functions(case),
        ),
        (replace(epoch_stages.skip_first(), where=f"in `{parts.place}`"),),
        place=to_place(parts.place),
    )
