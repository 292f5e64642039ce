"""A run as one side of a comparison: what a step cost, term by term, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np

from tb_slowdown_plugin.analysis.compare.reasons import RunFacts, facts_of
from tb_slowdown_plugin.analysis.prepare.run_settings import settings_of
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.stats.buckets import bucket
from tb_slowdown_plugin.analysis.stats.noise import long_run_variance
from tb_slowdown_plugin.analysis.types import CONFIRMING, UNEXPLAINED
from tb_slowdown_plugin.catalog.parameters.shared import ALIKE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Trace

HEALTHY: Final = "healthy"
WARM_UP: Final = "warm_up"
EVENTS: Final = {
    "retracing": "retraces",
    "garbage_collection": "gc",
    "checkpointing": "checkpoints",
}
"""Cause -> the marks in its account that are its events."""
_BATCHES: Final = 16
"""Few enough for slow noise to be inside each, enough to estimate a variance."""


@dataclass(frozen=True, slots=True)
class Term:
    """A mean, and the standard error that the noise within this run gives it."""

    seconds: float
    error_seconds: float


@dataclass(frozen=True, slots=True)
class RunLedger:
    """What a step of one run cost. The terms add up to `step`; warm-up is kept apart.

    Warm-up is paid once a run: a mean over the steps would make a short run look slow.
    """

    run: str
    steps: int
    step: Term
    """Mean seconds of a step, without warm-up."""
    quiet: Term
    """Mean seconds of the faster half of the steps. Other programs on the machine lengthen
    some steps by much, which the mean shows and this does not: with a load of 7 on 4 cores
    the means of eight runs of one program differed by 11%, these by 1%
    (benchmarks/comparison)."""
    terms: Mapping[str, Term]
    """"healthy", each cause, "unexplained"."""
    warm_up_seconds: float
    items_per_step: float | None = None
    """None where it was not told in each step."""
    settings: Mapping[str, str | float | bool] = field(default_factory=dict)
    """Configuration and environment, in the order in which they are to be told."""
    timed: frozenset[str] = frozenset()
    """Terms whose seconds clocks timed: there is no noise that could make them."""
    facts: RunFacts = field(default_factory=RunFacts)
    events: Mapping[str, int] = field(default_factory=dict)
    """Cause -> how often it happened, where it is made of events: retraces, saves."""


def ledger_of(run: Run, account: RunAccount, *, name: str | None = None) -> RunLedger:
    """The ledger of a run, made comparable with others.

    Args:
      run: At least one step.
      account: What `account_for(run)` said of it.
      name: How to call it; the run's own name where all are of one logdir.
    """
    columns = {HEALTHY: account.healthy_per_step, **account.lost_per_step}
    warm_up = columns.pop(WARM_UP, None)
    confirming = columns.pop(CONFIRMING, None)
    if confirming is not None:
        columns[UNEXPLAINED] = columns[UNEXPLAINED] + confirming
    total = np.sum([np.asarray(column) for column in columns.values()], axis=0)
    items = run.steps.items
    known = bool(len(items)) and bool(np.isfinite(items).all())
    return RunLedger(
        run=run.name if name is None else name,
        steps=len(run.steps),
        step=_term(total),
        quiet=_quiet(total),
        terms={term: _term(column) for term, column in columns.items()},
        warm_up_seconds=0.0 if warm_up is None else float(warm_up.sum()),
        items_per_step=float(items.mean()) if known else None,
        settings=settings_of(run),
        timed=frozenset(
            cause.cause
            for cause in account.report.causes
            if cause.confidence == "high" and not cause.external
        ),
        facts=facts_of(run),
        events=_count_events(run, account),
    )


def with_hyperparameters(run: RunLedger, logged: Mapping[str, str | float | bool]) -> RunLedger:
    """The ledger with what its program logged: first, and instead of what records tell."""
    told = {name: value for name, value in run.settings.items() if name not in logged}
    return replace(run, settings={**logged, **told})


def _count_events(run: Run, account: RunAccount) -> dict[str, int]:
    found = {
        cause: len(account.marks[kind][0])
        for cause, kind in EVENTS.items()
        if kind in account.marks
    }
    if "retracing" in found:
        # Marks are of the program's functions; calls such as `predict` retrace those of libraries.
        traces = [trace for _, trace in run.all_of(Trace)]
        of_libraries = [(each.function, each.location) for each in traces if _is_of_library(each)]
        found["retracing"] += len(of_libraries) - len(set(of_libraries))
    return found


def _is_of_library(trace: Trace) -> bool:
    """Whether a trace is of a library's function, in the training thread."""
    return trace.cause == "library" and not trace.elsewhere


def to_one_unit(
    base: Sequence[RunLedger], other: Sequence[RunLedger]
) -> tuple[Literal["step", "item"], list[RunLedger], list[RunLedger]]:
    """Both sides per item, where items were told and the runs differ in them."""
    items = [run.items_per_step for run in (*base, *other)]
    known = [count for count in items if count is not None and count > 0]
    if len(known) < len(items) or max(known) <= (1 + ALIKE) * min(known):
        return "step", list(base), list(other)
    return "item", [_per_item(run) for run in base], [_per_item(run) for run in other]


def _per_item(run: RunLedger) -> RunLedger:
    items = run.items_per_step or 1.0

    def divide(term: Term) -> Term:
        return Term(term.seconds / items, term.error_seconds / items)

    terms = {name: divide(term) for name, term in run.terms.items()}
    return replace(
        run, step=divide(run.step), quiet=divide(run.quiet), terms=terms, items_per_step=1.0
    )


def _term(seconds: Float) -> Term:
    return Term(float(seconds.mean()), _error_of_mean(seconds))


def _quiet(seconds: Float) -> Term:
    batches = np.array([_faster_half(part) for part in _batches(seconds)])
    # Like `stalls` below: differences of neighbours, so that a drift is no noise.
    differences = np.diff(batches) if len(batches) > 1 else np.zeros(1)
    error = math.sqrt(float(np.mean(differences**2)) / 2 / len(batches))
    return Term(_faster_half(seconds), error)


def _faster_half(seconds: Float) -> float:
    half = (len(seconds) + 1) // 2
    return float(np.partition(seconds, half - 1)[:half].mean())


def _batches(seconds: Float) -> list[Float]:
    return [part for part in np.array_split(seconds, _BATCHES) if len(part)]


def _error_of_mean(seconds: Float) -> float:
    """Standard error of a mean over a run, blind to its trends, not to its stalls.

    The larger of two: the long-run variance of bucket means, which slow noise raises
    and outliers do not; and von Neumann's mean square of successive differences over
    16 batches, which a stall raises. A drift or a level shift is the program's own
    and would come again in its next run: neither sees it.
    """
    if len(seconds) < 2:
        return 0.0
    fine = bucket(seconds, by="mean").values
    slow = long_run_variance(fine) / len(fine) if len(fine) > 2 else 0.0
    batches = np.array([part.mean() for part in _batches(seconds)])
    stalls = float(np.mean(np.diff(batches) ** 2)) / 2 / len(batches)
    return math.sqrt(max(slow, stalls))
