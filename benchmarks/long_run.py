"""A long run as a monitor would have written it, for the benchmarks of the reading side."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path.insert(0, str(TESTS))

import event_files  # noqa: E402

from tb_slowdown_plugin.records.types import (  # noqa: E402
    Chunk,
    Environment,
    Epoch,
    Event,
    Execution,
    GcPause,
    SignalTable,
    StepTable,
    Trace,
)

CHUNK_ROWS: Final = 256
"""A record each 2.6 s. The writer makes one each 10 s at this pace: less to read."""
_STEP_SECONDS: Final = 0.01
_SIGNAL_EVERY: Final = 100
"""Steps between samples: at 10 ms a step the monitor samples about once a second."""
_EPOCHS: Final = 20
_GC_EVERY: Final = 211
_RETRACE_EVERY: Final = 997
_SAVE_EVERY: Final = 5_000
_FUNCTIONS: Final = 7
_SIGNALS: Final = (
    "rss_bytes", "available_memory_bytes", "minor_faults", "major_faults", "run_delay_seconds",
    "throttled_seconds", "involuntary_switches", "eager_functions", "graph_operations",
    "live_tensors", "disk_read_bytes", "disk_written_bytes", "monitor_cpu_seconds",
    *(f"signal_{index}" for index in range(7)),
)  # fmt: skip
"""20 of them, named so that the rules of the analysis find some of what they look for."""


def chunks(
    count: int,
    *,
    session: str = "0123abcd",
    first: int = 0,
    seed: int = 1,
    chunk_rows: int = CHUNK_ROWS,
) -> Iterator[Chunk]:
    """The chunks of `count` steps of 10 ms from step `first` on: a level shift, growth, retraces.

    The program slows down by 40 % after two thirds, and spends more and more in callbacks.
    """
    steps, signals = _table(count, first, seed), None
    rows = np.arange(0, count, _SIGNAL_EVERY)
    random = np.random.default_rng(seed + 1)
    values = {
        name: 1e6 * (1 + index) + np.cumsum(random.random(len(rows)))
        for index, name in enumerate(_SIGNALS)
    }
    signals = SignalTable(steps.ended[rows], rows, values)
    yield from event_files.split(
        steps,
        session=session,
        chunk_rows=chunk_rows,
        signals=signals,
        events=_events(steps),
        environment=Environment(versions={"tensorflow": "2.21.0"}),
    )


def write(folder: Path, count: int, *, seed: int = 1, chunk_rows: int = CHUNK_ROWS) -> Path:
    """Writes a run's records into a folder (pass LOGDIR/run/slowdown)."""
    return event_files.write_chunks(folder, chunks(count, seed=seed, chunk_rows=chunk_rows))


def _table(count: int, first: int, seed: int) -> StepTable:
    random = np.random.default_rng(seed)
    steps = event_files.make_steps(count, first=first, seconds=_STEP_SECONDS, seed=seed)
    traced, saved = np.zeros(count), np.zeros(count)
    traced[_RETRACE_EVERY::_RETRACE_EVERY] = 0.2
    saved[_SAVE_EVERY::_SAVE_EVERY] = 0.5
    collected = np.zeros(count)
    collected[::_GC_EVERY] = 0.004
    accounts = {
        "input_wait": 0.001 * random.gamma(2.0, 0.5, count),
        "gc": collected,
        "tracing:again": traced,
        "checkpoint": saved,
        "callback:Logger": np.linspace(0.0002, 0.002, count),
        "summary": 0.0005 * random.random(count),
    }
    period = steps.period_seconds
    period[count * 2 // 3 :] *= 1.4
    for name, seconds in accounts.items():
        accounts[name] = np.rint(seconds * 1e6) / 1e6
        period += accounts[name]
    period[:] = np.rint(period * 1e6) / 1e6
    steps.ended[:] = event_files.STARTED + np.cumsum(period)
    steps.accounts.update(accounts)  # type: ignore[attr-defined]
    return steps


def _events(steps: StepTable) -> list[Event]:
    count = len(steps)
    found: list[Event] = []

    def add(row: int, what: Trace | Execution | GcPause | Epoch) -> None:
        found.append(Event(row, float(steps.ended[row]), what))

    for number, row in enumerate(range(0, count, max(1, count // _EPOCHS))):
        add(row, Epoch(number))
    for row in range(0, count, _GC_EVERY):
        add(row, GcPause(2, 0.004, 100))
    for number, row in enumerate(range(_RETRACE_EVERY, count, _RETRACE_EVERY)):
        function = f"train_step_{number % _FUNCTIONS}"
        seconds, building = 0.18, 0.15
        place = f"train.py:{40 + number % _FUNCTIONS}"
        cause = "first" if number < _FUNCTIONS else "signature"
        add(row, Trace(number, function, place, seconds, building, cause))
        add(row, Execution(number, 1, 0.02))
    return sorted(found, key=lambda event: event.row)
