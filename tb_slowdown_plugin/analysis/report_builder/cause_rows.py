"""What rules have claimed becomes the rows of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    Claim,
    largest,
    lost_seconds,
    span,
)
from tb_slowdown_plugin.analysis.causes.common.stalled_steps import tell_stalls
from tb_slowdown_plugin.analysis.prepare.run_stalls import StallSeen
from tb_slowdown_plugin.analysis.report_types.causes import Cause
from tb_slowdown_plugin.analysis.text.trial_text import rank_advice, trial_of
from tb_slowdown_plugin.analysis.types import sum_per_step


def make_rows(case: Case, claims: Sequence[Claim], stalls: Sequence[StallSeen]) -> Iterator[Cause]:
    """A row for each claim, with its place among those of the same cause."""
    seen: Counter[str] = Counter()
    for claim in claims:
        seen[claim.cause] += 1
        yield _make_row(case, claim, stalls, rank=seen[claim.cause])


def _make_row(case: Case, claim: Claim, stalls: Sequence[StallSeen], *, rank: int) -> Cause:
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
            *tell_stalls(case, stalls, sum_per_step(claim.findings, len(case.run.steps))),
        ),
        advice=rank_advice(claim.cause, claim.advice, case.run.trials),
        parts=claim.parts,
        external=claim.external,
        place=claim.place,
        confirmed=trial_of(claim.cause, case.run.trials),
        subject=claim.subject,
        rank=rank,
    )


def _tell_place(claim: Claim) -> Iterable[str]:
    """The line to change, where the texts of a cause don't name it."""
    if claim.place is None:
        return
    line, function = f"{claim.place.file}:{claim.place.line}", claim.place.function
    if not any(line in text for text in (claim.summary, *claim.evidence)):
        yield f"Where to look: `{f'{function} ({line})' if function else line}`."
