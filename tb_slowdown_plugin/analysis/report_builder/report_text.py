"""The sentences of a report as a whole: headline, notes, and where a healthy step was seen."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.captures import notes_on
from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds
from tb_slowdown_plugin.analysis.causes.common.stalled_steps import subject_of
from tb_slowdown_plugin.analysis.causes.match import describe_defects_below_floors, tell_avoidable
from tb_slowdown_plugin.analysis.causes.sorted_findings import tell_healthy
from tb_slowdown_plugin.analysis.causes.workload.beside_steps import tell_beside_steps
from tb_slowdown_plugin.analysis.causes.workload.other_work import tell_other_work
from tb_slowdown_plugin.analysis.causes.workload.restarting_growth import (
    tell_restarting_growth,
    tell_restarting_growth_shortly,
)
from tb_slowdown_plugin.analysis.report_builder.judgment import Judgment
from tb_slowdown_plugin.analysis.text.coverage import notes
from tb_slowdown_plugin.analysis.text.headline import headline
from tb_slowdown_plugin.analysis.text.step_rule import describe_not_chosen
from tb_slowdown_plugin.analysis.text.trial_text import describe_others
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.analysis.types import UNEXPLAINED
from tb_slowdown_plugin.analysis.views.forecast import forecast
from tb_slowdown_plugin.analysis.views.unjudged import describe_unjudged
from tb_slowdown_plugin.catalog.parameters.shared import TELLING
from tb_slowdown_plugin.records.types import Float


def tell_headline(case: Case, judgment: Judgment) -> str:
    """What was lost, to what most of all, and what nobody looked at."""
    claims = judgment.found.claims
    return headline(
        judgment.verdict,
        steps=len(case.run.steps),
        steps_needed=case.diagnosis.steps_needed,
        wall_seconds=case.diagnosis.ledger.wall_seconds,
        lost=[(c.subject, lost_seconds(c.findings)) for c in claims if not c.external],
        external=[(c.subject, lost_seconds(c.findings)) for c in claims if c.external],
        unexplained_seconds=judgment.unexplained_seconds,
        blind_spots=[spot.short for spot in judgment.blind_spots],
        unexplained_as=subject_of(judgment.stalls, judgment.per_cause[UNEXPLAINED]),
        before=judgment.stall.text if judgment.stall is not None else "",
        avoidable=tell_restarting_growth_shortly(judgment.restarting) or tell_avoidable(case),
        beside=tell_beside_steps(case, judgment.found.eager),
    )


def tell_notes(case: Case, judgment: Judgment) -> Iterable[str]:
    """What else there is to say, from what was read to what was tried."""
    run, claims = case.run, judgment.found.claims
    unjudged = describe_unjudged(run)
    if unjudged:
        yield unjudged
    yield from notes(run)
    yield from notes_on(case)
    yield from describe_defects_below_floors(case, claims)
    yield from tell_other_work(case)
    yield from tell_healthy(case, judgment.found)
    yield from tell_restarting_growth(case, judgment.restarting)
    yield from forecast(run)
    yield from describe_not_chosen(run)
    yield from describe_others(run.trials, [each.cause for each in claims])


def tell_baseline(case: Case, healthy_step: float, healthy_per_step: Float) -> str:
    """Where a healthy step was seen, in steps: rows are not, where a run began anew or has gaps.

    And what healthy time is in steps that take longer, where the two can't be multiplied.
    """
    baseline = case.diagnosis.baseline
    if not np.isfinite(baseline.seconds):
        return baseline.provenance
    seen = f"{baseline.provenance} ({case.steps_text(baseline.rows)})"
    longer = float(healthy_per_step.sum()) - healthy_step * len(case.run.steps)
    if not case.wall_share(longer) >= TELLING:
        return seen
    return f"{seen}; longer steps add {duration(longer)} to that, which doesn't count as lost"
