"""From a recording to its report: measured seconds, findings, causes, one sentence."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tb_slowdown_plugin.analysis.causes.change_labels import (
    describe_unexplained,
    find_change_points,
)
from tb_slowdown_plugin.analysis.causes.common.captures import notes_on
from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    span,
    stalls_of,
)
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import place_of_most
from tb_slowdown_plugin.analysis.causes.common.stalled_steps import (
    describe_stalled,
    subject_of,
    tell_stalls,
)
from tb_slowdown_plugin.analysis.causes.match import (
    describe_defects_below_floors,
    tell_avoidable,
)
from tb_slowdown_plugin.analysis.causes.sorted_findings import (
    SortedFindings,
    judge_sorted,
    sort_findings,
    tell_healthy,
)
from tb_slowdown_plugin.analysis.causes.suspects import find_suspects
from tb_slowdown_plugin.analysis.causes.workload.beside_steps import tell_beside_steps
from tb_slowdown_plugin.analysis.causes.workload.other_work import tell_other_work
from tb_slowdown_plugin.analysis.causes.workload.restarting_growth import (
    find_restarting_growth,
    tell_restarting_growth,
    tell_restarting_growth_shortly,
)
from tb_slowdown_plugin.analysis.causes.workload.scheduled import split_growth
from tb_slowdown_plugin.analysis.causes.workload.uneven_work import tell_uneven
from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.prepare.function_traces import traced_graphs
from tb_slowdown_plugin.analysis.prepare.recorded_run import (
    contention_signals,
    epoch_rows,
    floor_of_wait,
    measured_seconds,
)
from tb_slowdown_plugin.analysis.prepare.run_settings import settings_of
from tb_slowdown_plugin.analysis.prepare.run_stalls import StallSeen, find_run_stalls
from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds
from tb_slowdown_plugin.analysis.prepare.workers import describe_workers
from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.report_types.live import AsOf, Stall
from tb_slowdown_plugin.analysis.report_types.observations import RestartingGrowth
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.analysis.scalars.scalar_report import account_for_scalars
from tb_slowdown_plugin.analysis.text.blind_spots import (
    BlindSpot,
    find_blind_spots,
    judged,
    mark_signals,
)
from tb_slowdown_plugin.analysis.text.coverage import completeness, notes, signal_states
from tb_slowdown_plugin.analysis.text.headline import headline
from tb_slowdown_plugin.analysis.text.step_rule import describe_not_chosen, describe_step_rule
from tb_slowdown_plugin.analysis.text.trial_text import describe_others, rank_advice, trial_of
from tb_slowdown_plugin.analysis.text.wording import duration
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Finding, Verdict
from tb_slowdown_plugin.analysis.views.annotations import find_annotations
from tb_slowdown_plugin.analysis.views.forecast import forecast
from tb_slowdown_plugin.analysis.views.investigation import investigate
from tb_slowdown_plugin.analysis.views.python_lines import find_python_lines
from tb_slowdown_plugin.analysis.views.recent import find_recent, keeps_pace
from tb_slowdown_plugin.analysis.views.remaining import find_remaining
from tb_slowdown_plugin.analysis.views.stall import find_stall
from tb_slowdown_plugin.analysis.views.timeline import find_marks
from tb_slowdown_plugin.analysis.views.unjudged import describe_unjudged
from tb_slowdown_plugin.catalog.parameters.shared import TELLING
from tb_slowdown_plugin.records.types import Float, Run


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


@dataclass(frozen=True, slots=True)
class _Judgment:
    """What is known of a run before it is put into words."""

    found: SortedFindings
    verdict: Verdict
    stalls: tuple[StallSeen, ...]
    unexplained_seconds: float
    blind_spots: tuple[BlindSpot, ...]
    restarting: RestartingGrowth | None
    stall: Stall | None
    per_cause: Mapping[str, Float]
    """As `RunAccount.lost_per_step`."""


def assemble(case: Case, pending: tuple[Finding, ...] = ()) -> RunAccount:
    """The account of a run that has been diagnosed.

    Args:
      case: The run, with findings that the rules may claim.
      pending: Other findings, lost to no cause yet; they do not change the verdict.
    """
    case = replace(case, findings=(*split_growth(case), *stalls_of(case.diagnosis)))
    judgment = _judge(case, pending)
    found = judgment.found
    # Steps of uneven work have no level of their own.
    healthy_step = float("nan") if found.uneven else case.diagnosis.baseline.seconds
    healthy_per_step = case.diagnosis.healthy_per_step
    if found.healthy:  # a copy of ten million steps would be 80 MB
        healthy_per_step = healthy_per_step + _per_step(case, found.healthy)
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


def _judge(case: Case, pending: tuple[Finding, ...]) -> _Judgment:
    found = sort_findings(case)
    by_cause: dict[str, list[Finding]] = defaultdict(list)
    for claim in found.claims:
        by_cause[claim.cause] += claim.findings
    start = [claim for claim in found.claims if claim.cause == "warm_up"]
    later = [claim for claim in found.claims if claim not in start]
    blind_spots = tell_uneven(case, found.uneven) + find_blind_spots(
        case.run,
        _explained(case, later),
        _explained(case, start),
        lambda share: place_of_most(case, share),
    )
    return _Judgment(
        found,
        judge_sorted(case, found),
        tuple(find_run_stalls(case.run)),
        lost_seconds(found.rest) + lost_seconds(pending),
        tuple(blind_spots),
        find_restarting_growth(case),
        find_stall(case.run),
        {
            **{cause: _per_step(case, tuple(each)) for cause, each in by_cause.items()},
            UNEXPLAINED: _per_step(case, (*found.rest, *pending)),
        },
    )


def _report(
    case: Case,
    judgment: _Judgment,
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
        headline=_headline(case, judgment),
        steps=len(run.steps),
        wall_seconds=wall,
        healthy_step_seconds=healthy_step if np.isfinite(healthy_step) else None,
        baseline=_baseline(case, healthy_step, healthy_per_step),
        lost_seconds=lost,
        lost_fraction=lost / wall if wall > 0 else 0.0,
        unexplained_seconds=judgment.unexplained_seconds,
        causes=tuple(
            _cause(case, claim, judgment.stalls, rank)
            for claim, rank in zip(found.claims, _ranks(found.claims), strict=True)
        ),
        suspects=find_suspects(replace(case, findings=found.rest)),
        workers=describe_workers(run),
        signals=mark_signals(run, signal_states(run), judgment.blind_spots),
        completeness=completeness(run),
        notes=tuple(_notes(case, judgment)),
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


def _headline(case: Case, judgment: _Judgment) -> str:
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


def _notes(case: Case, judgment: _Judgment) -> Iterable[str]:
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


def _baseline(case: Case, healthy_step: float, healthy_per_step: Float) -> str:
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


def _last_step(run: Run) -> AsOf | None:
    steps = run.steps
    return AsOf(int(steps.number[-1]), float(steps.ended[-1])) if len(steps) else None


def _per_step(case: Case, findings: tuple[Finding, ...]) -> Float:
    if len(findings) == 1:
        return findings[0].lost_per_step  # a copy of ten million steps would be 80 MB
    total = np.zeros(len(case.run.steps))
    for finding in findings:
        total += finding.lost_per_step
    return total


def _explained(case: Case, claims: Iterable[Claim]) -> Float:
    """(S,) seconds of causes for which no account of the steps has the seconds."""
    accounts = case.run.steps.accounts
    return _per_step(
        case,
        tuple(
            finding
            for claim in claims
            for finding in claim.findings
            if finding.source not in accounts
        ),
    )


def _tell_place(claim: Claim) -> Iterable[str]:
    """The line to change, where the texts of a cause don't name it."""
    if claim.place is None:
        return
    line, function = f"{claim.place.file}:{claim.place.line}", claim.place.function
    if not any(line in text for text in (claim.summary, *claim.evidence)):
        yield f"Where to look: `{f'{function} ({line})' if function else line}`."


def _ranks(claims: Iterable[Claim]) -> Iterable[int]:
    """The place of each among those of its cause."""
    seen: Counter[str] = Counter()
    for claim in claims:
        seen[claim.cause] += 1
        yield seen[claim.cause]


def _cause(case: Case, claim: Claim, stalls: Sequence[StallSeen], rank: int) -> Cause:
    seconds = lost_seconds(claim.findings)
    main = largest(claim.findings)
    first, last = span(claim.findings)
    return Cause(
        cause=claim.cause,
        lost_seconds=seconds,
        lost_fraction=case.wall_share(seconds),
        pattern=claim.pattern or main.pattern,
        confidence=claim.confidence or main.confidence,
        steps=case.steps((first, last)),
        summary=claim.summary,
        evidence=(
            *_tell_place(claim),
            *claim.evidence,
            *tell_stalls(case, stalls, _per_step(case, claim.findings)),
        ),
        advice=rank_advice(claim.cause, claim.advice, case.run.trials),
        parts=claim.parts,
        external=claim.external,
        place=claim.place,
        confirmed=trial_of(claim.cause, case.run.trials),
        subject=claim.subject,
        rank=rank,
    )
