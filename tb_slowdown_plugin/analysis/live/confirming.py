"""States what of a live run is being confirmed: how much, since when, and the first candidate."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.live.hysteresis import Confirmation
from tb_slowdown_plugin.analysis.live.recent_pace import Slowing
from tb_slowdown_plugin.analysis.report_types.live import Confirming
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.analysis.text.headline import PARTLY, headline
from tb_slowdown_plugin.analysis.text.wording import ledger_seconds, step_range, whole_percent
from tb_slowdown_plugin.analysis.types import CONFIRMING, UNEXPLAINED, Verdict, zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import CONTENTION, THROTTLED, cause_of_account
from tb_slowdown_plugin.catalog.causes import cause_title
from tb_slowdown_plugin.catalog.parameters.shared import ENOUGH_STEPS, MATTERS
from tb_slowdown_plugin.catalog.parameters.stats import (
    PERSISTENCE,
    SMALLEST_CHANGE,
)
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_BY_OTHERS: Final = "cpu_contention"


def tell_pending(
    run: Run, split: Confirmation, confirmed: RunAccount, whole: RunAccount
) -> RunAccount:
    """The account of a run of which some findings are not confirmed.

    Args:
      run: The run.
      split: Its findings.
      confirmed: Of the confirmed ones, with the seconds of the others unexplained.
      whole: As if all were confirmed.
    """
    largest = max(split.pending, key=lambda finding: finding.lost_seconds)
    first, last = largest.rows
    lost = np.sum([finding.lost_per_step for finding in split.pending], axis=0)
    # All that a step takes now, whatever of it is confirmed: the reader sees the whole step.
    candidate = _candidate_of(confirmed.report, whole.report, float(lost.sum()))
    usual = whole.healthy_per_step[first:]
    period = np.nan_to_num(run.steps.period_seconds[first:])
    times = np.divide(period, usual, out=np.ones_like(usual), where=usual > 0)
    is_current = last >= len(lost) - 1 - (last - first)
    if largest.pattern == "drift":
        times = times[-max(ENOUGH_STEPS, len(times) // 10) :]
    growth = float(np.median(times)) - 1.0 if is_current else 0.0
    rows = split.remaining_seconds / max(_mean_period(run, first), 1e-9)
    confirming = _state(
        run,
        seconds=float(lost.sum()),
        rows=(first, last),
        growth=growth,
        verb="Getting slower" if largest.pattern == "drift" else "Slower",
        candidate=candidate,
        subject=_subject_of(whole.report, candidate),
        due_row=len(lost) + int(rows),
    )
    verdict = whole.report.verdict if is_by_others(split, whole) else "slowdown"
    return _with_confirming(confirmed, confirming, lost, first, verdict)


def is_by_others(split: Confirmation, whole: RunAccount) -> bool:
    """Whether nothing is pending but what other processes took.

    Args:
      split: The findings of a run.
      whole: Its account as if all were confirmed.
    """
    return all(
        names.family(finding.source) == CONTENTION and finding.source != THROTTLED
        for finding in split.pending
    ) and any(cause.cause == _BY_OTHERS and cause.external for cause in whole.report.causes)


def tell_slowing(run: Run, account: RunAccount, slowing: Slowing, *, by_others: bool) -> RunAccount:
    """The account of a run whose newest steps are slower than the baseline without a finding.

    Args:
      run: The run.
      account: Of its findings.
      slowing: Its newest steps.
      by_others: Whether other processes took most of what these take too long.
    """
    moved = np.minimum(slowing.excess_per_step, account.healthy_per_step)
    unexplained = account.lost_per_step[UNEXPLAINED] + moved
    booked = np.minimum(slowing.excess_per_step, unexplained)
    first, rows = slowing.first_row, len(moved)
    excess = float(slowing.excess_per_step.sum())
    candidate = _BY_OTHERS if by_others else _find_candidate(run, first, excess)
    confirming = _state(
        run,
        seconds=float(booked.sum()),
        rows=(first, rows - 1),
        growth=slowing.growth_fraction,
        candidate=candidate,
        subject="other processes competing for the CPU" if by_others else _in_sentence(candidate),
        due_row=max(int(first / (1.0 - PERSISTENCE)), rows + 1),
    )
    account = replace(
        account,
        healthy_per_step=account.healthy_per_step - moved,
        lost_per_step={**account.lost_per_step, UNEXPLAINED: unexplained},
    )
    verdict = account.report.verdict if by_others else "slowdown"
    return _with_confirming(
        account, confirming, booked, first, verdict, more_seconds=float(moved.sum())
    )


def _candidate_of(confirmed: Report, whole: Report, pending_seconds: float) -> str | None:
    """The cause that gets most of the pending seconds if all is confirmed, or its suspect."""
    fits = {suspect.cause: suspect.seconds for suspect in whole.suspects}
    known = confirmed.lost_by_cause()
    fits |= {cause: lost - known.get(cause, 0.0) for cause, lost in whole.lost_by_cause().items()}
    best = max(fits, key=lambda cause: fits[cause], default=None)
    return best if best is not None and fits[best] >= MATTERS * pending_seconds else None


def _subject_of(report: Report, candidate: str | None) -> str:
    known = (cause.subject for cause in report.causes if cause.cause == candidate)
    return next(known, "") or _in_sentence(candidate)


def _in_sentence(cause: str | None) -> str:
    title = cause_title(cause) if cause else ""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _find_candidate(run: Run, first: int, excess_seconds: float) -> str | None:
    """The cause whose accounts hold most of what the newest rows take more than those before."""
    more: dict[str, float] = {}
    for name, column in run.steps.accounts.items():
        cause = cause_of_account(name)
        if cause is not None and first > 0:
            values = zero_where_unknown(column)
            rows = len(values) - first
            grown = float(values[first:].sum()) - rows * float(values[:first].mean())
            more[cause] = more.get(cause, 0.0) + grown
    best = max(more, key=lambda cause: more[cause], default=None)
    return best if best is not None and more[best] >= MATTERS * excess_seconds else None


def _state(
    run: Run,
    *,
    seconds: float,
    rows: tuple[int, int],
    growth: float,
    candidate: str | None,
    subject: str,
    due_row: int,
    verb: str = "Slower",
) -> Confirming:
    number = run.steps.number
    first, last = int(number[rows[0]]), int(number[rows[1]])
    due = int(number[-1]) + max(due_row - len(number), 1) * run.steps_per_row
    if growth >= SMALLEST_CHANGE:
        what = f"{verb} since about step {first:,} (+{whole_percent(growth)})."
    else:
        growth = 0.0
        what = f"{ledger_seconds(seconds)} was lost in steps {step_range(first, last)}."
    which = f"; first candidate: {subject}" if subject else ""
    text = f"{what} Confirming the cause{which}."
    return Confirming(seconds, first, growth or None, candidate, due, text)


def _with_confirming(
    account: RunAccount,
    confirming: Confirming,
    per_step: Float,
    first_row: int,
    verdict: Verdict,
    more_seconds: float = 0.0,
) -> RunAccount:
    """The account with the state in its report, and in its headline where that is the news.

    Its seconds leave those that are unexplained in the columns, where both are seen apart;
    `more_seconds` of them were healthy in the report so far.
    """
    report = account.report
    wall = report.wall_seconds
    lost = report.lost_seconds + more_seconds
    unexplained_seconds = report.unexplained_seconds + more_seconds
    largest = max((cause.lost_seconds for cause in report.causes), default=0.0)
    others = max(largest, unexplained_seconds - confirming.seconds)
    if verdict != "slowdown":
        text = f"{_of_the_program(report)} {confirming.text}"
    elif report.verdict == "slowdown" and others > confirming.seconds:
        text = headline(
            report.verdict,
            steps=report.steps,
            wall_seconds=wall,
            lost=[(each.subject, each.lost_seconds) for each in report.causes],
            unexplained_seconds=unexplained_seconds,
        )
    else:
        text = confirming.text
    partly = report.headline.partition(PARTLY)[2]
    report = replace(
        report,
        verdict=verdict,
        headline=f"{text.removesuffix('.')}. {PARTLY}{partly}" if partly else text,
        lost_seconds=lost,
        lost_fraction=lost / wall if wall > 0 else 0.0,
        unexplained_seconds=unexplained_seconds,
        confirming=confirming,
    )
    unexplained = np.maximum(account.lost_per_step[UNEXPLAINED] - per_step, 0.0)
    columns = {**account.lost_per_step, CONFIRMING: per_step, UNEXPLAINED: unexplained}
    points = sorted((*account.change_points, (first_row, "Being confirmed from here")))
    return replace(account, report=report, lost_per_step=columns, change_points=tuple(points))


def _of_the_program(report: Report) -> str:
    """What is said of the program while other processes take time from it."""
    if report.verdict == "healthy":
        return "The program itself is healthy."
    return f"{report.headline.partition(PARTLY)[0].strip().removesuffix('.')}."


def _mean_period(run: Run, first: int) -> float:
    period: Float = np.nan_to_num(run.steps.period_seconds[first:])
    return float(period.mean()) if len(period) else 0.0
