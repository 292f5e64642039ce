"""Runs as literals: what a recording would say, without one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest

from tb_slowdown_plugin.records.types import (
    CollectorState,
    Environment,
    Event,
    Run,
    Session,
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
        environment=Environment(collectors=tuple(collectors)),
        sessions=tuple(sessions or (Session("aa", 0, STARTED, 3, 0),)),
        notes=notes,
    )


def _column(values: Sequence[float] | np.ndarray | None, size: int) -> np.ndarray:
    return np.full(size, np.nan) if values is None else np.asarray(values, float)


@pytest.fixture(name="make_run")
def _make_run() -> Callable[..., Run]:
    return make_run
