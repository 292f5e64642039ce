"""Runs as literals: what a recording would say, without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.prepare.function_traces import traced_graphs
from tb_slowdown_plugin.analysis.report_builder.account import assemble
from tb_slowdown_plugin.analysis.report_types.report import RunAccount
from tb_slowdown_plugin.analysis.types import (
    Baseline,
    Diagnosis,
    Finding,
    Ledger,
)
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import (
    CollectorState,
    Environment,
    Event,
    SignalTable,
    StepTable,
    What,
)

STARTED = 1_700_000_000.0


def make_run(
    period_seconds: Sequence[float] | np.ndarray,
    *,
    accounts: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    events: Sequence[tuple[int, What]] = (),
    signals: Mapping[str, Sequence[float] | np.ndarray] | None = None,
    signal_rows: Sequence[int] | np.ndarray | None = None,
    thread_cpu: Sequence[float] | np.ndarray | None = None,
    process_cpu: Sequence[float] | np.ndarray | None = None,
    numbers: Sequence[int] | np.ndarray | None = None,
    collectors: Sequence[CollectorState] = (),
    sessions: Sequence[Session] | None = None,
    notes: tuple[str, ...] = (),
    limits: Mapping[str, float] | None = None,
) -> Run:
    """A run of one process; `events` are (row, what)."""
    period = np.asarray(period_seconds, float)
    size = len(period)
    ended = STARTED + np.cumsum(period)
    steps = StepTable(
        number=np.arange(size) if numbers is None else np.asarray(numbers),
        period_seconds=period,
        inside_seconds=period,
        process_cpu_seconds=_column(process_cpu, size),
        thread_cpu_seconds=_column(thread_cpu, size),
        ended=ended,
        items=np.full(size, np.nan),
        kind=np.zeros(size, np.int64),
        kinds=("train",),
        accounts={name: np.asarray(values, float) for name, values in (accounts or {}).items()},
    )
    values = {name: np.asarray(each, float) for name, each in (signals or {}).items()}
    samples = len(next(iter(values.values()), ()))
    rows = np.arange(samples) if signal_rows is None else np.asarray(signal_rows)
    times = ended[np.minimum(rows, size - 1)] if size else np.zeros(samples)
    return Run(
        name="run1",
        steps=steps,
        signals=SignalTable(times, rows, values),
        events=tuple(
            Event(row, float(ended[min(row, size - 1)]) if size else STARTED, what)
            for row, what in events
        ),
        environment=Environment(collectors=tuple(collectors), limits=limits or {}),
        sessions=tuple(sessions or (Session("aa", 0, STARTED, 3, 0),)),
        notes=notes,
    )


def _column(values: Sequence[float] | np.ndarray | None, size: int) -> np.ndarray:
    return np.full(size, np.nan) if values is None else np.asarray(values, float)


@pytest.fixture(name="make_run")
def _make_run() -> Callable[..., Run]:
    return make_run


def find(
    source: str,
    pattern: str,
    lost_per_step: np.ndarray,
    *,
    rows: tuple[int, int] | None = None,
    confidence: str = "high",
    **numbers: float,
) -> Finding:
    """A finding of the engine, as a literal."""
    hit = np.flatnonzero(lost_per_step)
    return Finding(
        source,
        pattern,
        rows or (int(hit[0]), int(hit[-1])),
        float(np.sum(lost_per_step)),
        np.asarray(lost_per_step, float),
        confidence,
        numbers,
    )


def judge(run: Run, *findings: Finding, warm_up_rows: int = 0) -> RunAccount:
    """The account of a run of which the engine found this; the rest of it is healthy."""
    period = run.steps.period_seconds
    lost = sum((finding.lost_per_step for finding in findings), np.zeros(len(period)))
    healthy = period - lost
    by_source: dict[str, float] = {}
    for finding in findings:
        by_source[finding.source] = by_source.get(finding.source, 0.0) + finding.lost_seconds
    slow = any(finding.pattern != "warm_up" for finding in findings)
    diagnosis = Diagnosis(
        "slowdown" if slow else "healthy",
        Baseline(float(np.median(healthy)), "level of the whole run", (0, len(period) - 1)),
        Ledger(float(period.sum()), float(healthy.sum()), by_source, 0.0),
        tuple(sorted(findings, key=lambda finding: -finding.lost_seconds)),
        warm_up_rows,
        healthy,
        np.zeros(len(period)),
    )
    return assemble(Case(run, diagnosis, diagnosis.findings, traced_graphs(run)))


@pytest.fixture(name="find")
def _find() -> Callable[..., Finding]:
    return find


@pytest.fixture(name="judge")
def _judge() -> Callable[..., RunAccount]:
    return judge
