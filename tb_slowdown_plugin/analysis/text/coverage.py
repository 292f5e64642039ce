"""What was measured of a run, what was not, and what is missing of its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.analysis.report_types.observations import SignalState
from tb_slowdown_plugin.analysis.text.wording import counted, duration
from tb_slowdown_plugin.catalog.collectors import signal_of
from tb_slowdown_plugin.catalog.parameters.shared import (
    SHORTEST_SECONDS,
)
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import CollectorState, Failure, Idle, StepTable

STEP_TIME: Final = "step_time"

_MOST_GAPS: Final = 100
"""A report names so many; the timeline has all."""

_GAPS_IN_NOTE: Final = 3


def signal_states(run: Run) -> tuple[SignalState, ...]:
    """Every family of signals with its state; step times first."""
    measured = SignalState(STEP_TIME, "measured")
    return (measured, *(_state(collector) for collector in run.environment.collectors))


def _state(collector: CollectorState) -> SignalState:
    signal = signal_of(collector.name)
    if collector.status != "running":
        return SignalState(signal, collector.status, collector.reason)
    return SignalState(signal, "partly" if collector.reason else "measured", collector.reason)


def completeness(run: Run) -> Mapping[str, Any]:
    """How many records were read, how many are proven to be missing, and where steps are."""
    return {
        "chunks": sum(session.chunks for session in run.sessions),
        "missing_chunks": sum(session.missing_chunks for session in run.sessions),
        "gaps": missing_stretches(run, run.sessions)[:_MOST_GAPS],
    }


def missing_stretches(run: Run, sessions: Iterable[Session]) -> list[dict[str, Any]]:
    """Where steps of these sessions are in no record, in order.

    Returns:
      dicts of `row` (the first after them), `steps` (how many), `after_step` and
      `before_step` (the program's numbers of the steps on either side), and `seconds`
      (from the end of the one to the start of the other; at least 0).
    """
    steps = run.steps
    return [
        {
            "row": gap.row,
            "steps": gap.steps,
            "after_step": int(steps.number[gap.row - 1]),
            "before_step": int(steps.number[gap.row]),
            "seconds": _seconds_before(steps, gap.row),
        }
        for session in sessions
        for gap in session.gaps
        if 0 < gap.row < len(steps)
    ]


def _seconds_before(steps: StepTable, row: int) -> float:
    began = steps.ended[row] - steps.period_seconds[row]
    return round(max(0.0, float(began - steps.ended[row - 1])), 3)


def _where(run: Run) -> str:
    gaps = missing_stretches(run, [one for one in run.sessions if one.missing_chunks])
    if not gaps:
        return ""
    places = [
        f"{counted(gap['steps'], 'step')} between {gap['after_step']:,} and {gap['before_step']:,}"
        for gap in gaps[:_GAPS_IN_NOTE]
    ]
    rest = len(gaps) - len(places)
    if rest:
        places.append(f"{counted(rest, 'other place')}")
    return f" ({'; '.join(places)})"


def notes(run: Run) -> tuple[str, ...]:
    """What a reader must know before trusting the rest."""
    return tuple(_notes(run))


def _notes(run: Run) -> Iterable[str]:
    missing = completeness(run)["missing_chunks"]
    total = completeness(run)["chunks"] + missing
    if missing:
        yield (
            f"{missing:,} of {counted(total, 'chunk')} {'is' if missing == 1 else 'are'} missing"
            f"{_where(run)}; {'its' if missing == 1 else 'their'} seconds are in no sum."
        )
    unwritten = sum(s.missing_steps for s in run.sessions if not s.missing_chunks)
    if unwritten:
        yield (
            f"{counted(unwritten, 'step')} {'was' if unwritten == 1 else 'were'} not kept, because "
            "they came faster than they could be written; their seconds are in no sum."
        )
    for session in run.sessions[1:]:
        if 0 < session.first_row < len(run.steps):
            yield f"Resumed at step {int(run.steps.number[session.first_row]):,}."
    period = run.steps.period_seconds
    usual = float(np.mean(period)) if len(period) else SHORTEST_SECONDS
    if 0 < usual < SHORTEST_SECONDS:
        yield (
            f"A step takes {duration(usual)} on average: slow steps are not told apart from what "
            f"the operating system does; from {duration(SHORTEST_SECONDS)} on they are."
        )
    idle = [gap.seconds for _, gap in run.all_of(Idle)]
    if idle:
        yield (
            f"{duration(sum(idle))} without work ({counted(len(idle), 'gap')}) are not in the wall "
            "time."
        )
    failures = Counter((failure.part, failure.reason) for _, failure in run.all_of(Failure))
    for (part, reason), times in failures.items():
        often = f" ({times:,} times)" if times > 1 else ""
        yield f"The monitor's {part} failed{often}: {reason}"
    yield from run.notes
