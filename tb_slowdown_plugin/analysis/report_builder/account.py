"""From a recording to its report: measured seconds, findings, causes, one sentence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.analysis.causes.change_labels import (
    describe_unexplained,
    find_change_points,
)
from tb_slowdown_plugin.analysis.causes.common.context import Case, lost_seconds, stalls_of
from tb_slowdown_plugin.analysis.causes.common.stalled_steps import describe_stalled
from tb_slowdown_plugin.analysis.causes.suspects import find_suspects
from tb_slowdown_plugin.analysis.causes.workload.scheduled import split_growth
from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.prepare.function_traces import traced_graphs
from tb_slowdown_plugin.analysis.prepare.recorded_run import (
    contention_signals,
    epoch_rows,
    floor_of_wait,
    measured_seconds,
)
from tb_slowdown_plugin.analysis.prepare.run_settings import settings_of
from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds
from tb_slowdown_plugin.analysis.prepare.workers import describe_workers
from tb_slowdown_plugin.analysis.report_builder.cause_rows import make_rows
from tb_slowdown_plugin.analysis.report_builder.judgment import Judgment, judge
from tb_slowdown_plugin.analysis.report_builder.report_text import (
    tell_baseline,
    tell_headline,
    tell_notes,
)
from tb_slowdown_plugin.analysis.report_types.live import AsOf
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.analysis.scalars.scalar_report import account_for_scalars
from tb_slowdown_plugin.analysis.text.blind_spots import judged, mark_signals
from tb_slowdown_plugin.analysis.text.coverage import completeness, signal_states
from tb_slowdown_plugin.analysis.text.step_rule import describe_step_rule
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Finding, sum_per_step
from tb_slowdown_plugin.analysis.views.annotations import find_annotations
from tb_slowdown_plugin.analysis.views.investigation import investigate
from tb_slowdown_plugin.analysis.views.python_lines import find_python_lines
from tb_slowdown_plugin.analysis.views.recent import find_recent, keeps_pace
from tb_slowdown_plugin.analysis.views.remaining import find_remaining
from tb_slowdown_plugin.analysis.views.timeline import find_marks
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


def account_for(run: Run) -> RunAccount:
    """Says where the time of a run went, why, and what to change.

    Args:
      run: a joined recording; any part of it may be missing.

    Returns:
      The report and the seconds of each step behind it. In each step healthy,
      lost and unexplained seconds add up to the step's period.
    """
    if run.drawn_from is not None:
        return account_for_scalars(run)
    return assemble(open_case(run))


def open_case(run: Run) -> Case:
    """Diagnoses a run; no cause has been named yet."""
    graphs = traced_graphs(run)
    steps = run.steps
    comparable = find_kinds(run)
    diagnosis = diagnose(
        steps.period_seconds,
        measured_seconds(run, graphs),
        cpu_seconds=steps.process_cpu_seconds,
        signals=contention_signals(run),
        epochs=epoch_rows(run),
        kinds=comparable.kind,
        items=comparable.items,
        floors=floor_of_wait(run),
    )
    return Case(run, diagnosis, diagnosis.findings, graphs, comparable)


def assemble(case: Case, pending: tuple[Finding, ...] = ()) -> RunAccount:
    """The account of a run that has been diagnosed.

    Args:
      case: The run, with findings that the rules may claim.
      pending: Other findings, lost to no cause yet; they do not change the verdict.
    """
    case = replace(case, findings=(*split_growth(case), *stalls_of(case.diagnosis)))
    judgment = judge(case, pending)
    found = judgment.found
    # Steps of uneven work have no level of their own.
    healthy_step = float("nan") if found.uneven else case.diagnosis.baseline.seconds
    healthy_per_step = case.diagnosis.healthy_per_step
    if found.healthy:  # a copy of ten million steps would be 80 MB
        healthy_per_step = healthy_per_step + sum_per_step(found.healthy, len(case.run.steps))
    report = _report(case, judgment, pending, healthy_step, healthy_per_step)
    points = find_change_points(case, found.claims, found.rest, judgment.per_cause)
    account = RunAccount(
        report,
        healthy_per_step,
        judgment.per_cause,
        tuple(sorted(points)),
        find_marks(case.run, case.graphs),
    )
    next_look = None if pending else investigate(case.run, account)
    return replace(account, report=replace(report, investigation=next_look))


def _report(
    case: Case,
    judgment: Judgment,
    pending: tuple[Finding, ...],
    healthy_step: float,
    healthy_per_step: Float,
) -> Report:
    run, diagnosis, found = case.run, case.diagnosis, judgment.found
    wall = diagnosis.ledger.wall_seconds
    lost = judgment.unexplained_seconds + sum(lost_seconds(each.findings) for each in found.claims)
    unexplained = judgment.per_cause[UNEXPLAINED]
    recent = find_recent(run)
    return Report(
        run=run.name,
        verdict=judgment.verdict,
        headline=tell_headline(case, judgment),
        steps=len(run.steps),
        wall_seconds=wall,
        healthy_step_seconds=healthy_step if np.isfinite(healthy_step) else None,
        baseline=tell_baseline(case, healthy_step, healthy_per_step),
        lost_seconds=lost,
        lost_fraction=lost / wall if wall > 0 else 0.0,
        unexplained_seconds=judgment.unexplained_seconds,
        causes=tuple(make_rows(case, found.claims, judgment.stalls)),
        suspects=find_suspects(replace(case, findings=found.rest)),
        workers=describe_workers(run),
        signals=mark_signals(run, signal_states(run), judgment.blind_spots),
        completeness=completeness(run),
        notes=tuple(tell_notes(case, judgment)),
        as_of=_last_step(run),
        recent=recent,
        restarting_growth=judgment.restarting,
        steady=judgment.restarting is None
        and not found.longer
        and keeps_pace(recent, healthy_step),
        unexplained=describe_stalled(case, judgment.stalls, unexplained)
        or describe_unexplained(case, found.rest, unexplained),
        judged=judged(judgment.blind_spots),
        blind_spots=tuple(spot.sentence for spot in judgment.blind_spots),
        step_rule=describe_step_rule(run),
        stall=judgment.stall,
        remaining=find_remaining(
            run,
            [
                *(each for claim in found.claims for each in claim.findings),
                *found.rest,
                *pending,
            ],
            diagnosis.warm_up_rows,
        ),
        ended=run.is_ended,
        annotations=find_annotations(run),
        python=find_python_lines(run),
        settings=tuple({"name": n, "value": value} for n, value in settings_of(run).items()),
    )


def _last_step(run: Run) -> AsOf | None:
    steps = run.steps
    return AsOf(int(steps.number[-1]), float(steps.ended[-1])) if len(steps) else None
