"""What a capture has to say to the report: the steps that stand in the run's record."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.sessions import CaptureSession, HostFile, find_sessions
from tb_slowdown_plugin.profiler.shares import device_shares
from tb_slowdown_plugin.profiler.steps import Recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.records.capture import CapturedItem, CapturedSteps
from tb_slowdown_plugin.records.run import Run

_MOST_ITEMS: Final = 40
_MOST_CAPTURES: Final = 8
_MOST_BYTES: Final = 1 << 25
"""Of all captures that a report looks into: 0.7 s (`benchmarks/trace_reading.py`)."""

Read = Callable[[CaptureSession, HostFile], CaptureTrace]
"""May raise `UnreadableError` and OSError."""


def captured_steps(
    run: Run, sessions: Iterable[CaptureSession], read: Read
) -> tuple[CapturedSteps, ...]:
    """The captures of a run that the report looks into, in the order of their steps.

    Those that the monitor took by itself come before others, newer ones before older,
    until there are 8 of them or 32 MB are read. What can't be read is left out: the
    Traces panel says why.

    Args:
      run: Its steps and events.
      sessions: The captures that may be the run's.
      read: Reads what one host wrote of a capture.
    """
    automatic = {fact.subject for _, fact in run.facts(names.AUTOMATIC_CAPTURE)}
    newest = sorted(sessions, key=lambda session: session.name, reverse=True)
    found: list[CapturedSteps] = []
    bytes_left = _MOST_BYTES
    for session in sorted(newest, key=lambda session: session.name not in automatic):
        file = session.files[0]
        if len(found) == _MOST_CAPTURES or file.size_bytes > bytes_left:
            continue
        bytes_left -= file.size_bytes
        with contextlib.suppress(UnreadableError, OSError):
            digest = digest_of(session.name, read(session, file))
            if digest is not None:
                found.append(digest)
    return tuple(sorted(found, key=lambda captured: captured.rows))


def captured_in(logdir: Path, run: Run) -> tuple[CapturedSteps, ...]:
    """The same, straight from a logdir."""
    recorded = recorded_steps(run)
    return captured_steps(
        run, find_sessions(logdir, run.name), lambda _, file: read_trace(file.path, recorded)
    )


def recorded_steps(run: Run) -> Recorded:
    """When the steps of a run ended, for `read_trace`."""
    steps = run.steps
    return Recorded(steps.number, steps.ended, steps.period_seconds, run.steps_per_row)


def digest_of(session: str, trace: CaptureTrace) -> CapturedSteps | None:
    """The steps of a capture that have rows; None where there are none."""
    known = np.flatnonzero(trace.steps.row >= 0)
    if not len(known):
        return None
    rows = trace.steps.row[known]
    steps = trace.steps
    cells = np.isin(trace.cell_step, known)
    total = np.bincount(trace.cell_item[cells], trace.cell_seconds[cells], len(trace.items))
    seconds = total / len(known)
    leading = np.argsort(-seconds, kind="stable")[:_MOST_ITEMS].tolist()
    return CapturedSteps(
        session=session,
        rows=(int(rows.min()), int(rows.max())),
        steps=len(known),
        seconds=float(np.mean((steps.ends - steps.begins)[known])),
        parts={part: float(np.mean(spent[known])) for part, spent in trace.parts.items()},
        items=tuple(
            CapturedItem(
                trace.items[n].kind, trace.items[n].part, trace.items[n].name, float(seconds[n])
            )
            for n in leading
            if seconds[n] > 0.0
        ),
        allocators=trace.allocators,
        devices=trace.devices,
        shares=device_shares(trace, known.tolist()),
    )
