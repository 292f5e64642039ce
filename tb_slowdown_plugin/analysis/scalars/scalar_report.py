"""The report on a run without records, whose steps are drawn from its scalars.

The engine is the one of every run. Nothing but the times of steps is known, so no cause is
named: what was lost is unexplained, and the report says how to learn the cause.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.ledger.findings import (
    AT_START,
)
from tb_slowdown_plugin.analysis.ledger.verdict import find_wandering, verdict_on
from tb_slowdown_plugin.analysis.report_types.live import AsOf
from tb_slowdown_plugin.analysis.report_types.observations import DrawnFrom, SignalState
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.analysis.scalars.changed_scalars import (
    describe_changed_scalars,
    find_changed_scalars,
)
from tb_slowdown_plugin.analysis.scalars.pauses import Pauses, find_pauses
from tb_slowdown_plugin.analysis.scalars.scalar_text import (
    REMEDY,
    describe_baseline,
    describe_gaps,
    describe_headline,
    describe_onset,
    describe_pauses,
    describe_source,
    describe_warm_up,
)
from tb_slowdown_plugin.analysis.scalars.step_rise import StepRise, find_rise
from tb_slowdown_plugin.analysis.text.wording import (
    duration,
)
from tb_slowdown_plugin.analysis.types import (
    CORE,
    Diagnosis,
    Finding,
    Verdict,
    sum_per_step,
)
from tb_slowdown_plugin.analysis.views.recent import find_recent
from tb_slowdown_plugin.analysis.views.timeline import (
    find_marks,
)
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.stats import SMALLEST_CHANGE
from tb_slowdown_plugin.records.run import Run, ScalarSource
from tb_slowdown_plugin.records.types import Int

NOT_RECORDED: Final = "this run has no records of the monitor"
_SIGNALS: Final = (
    "retraces",
    "garbage_collection",
    "input_wait",
    "checkpoints",
    "callbacks",
    "process_memory",
    "host_memory",
    "allocator",
    "cpu_contention",
    "disk_io",
    "communication",
)
"""What the monitor would measure, as far as it matters most."""
_UNEXPLAINED: Final = "unexplained"
WARM_UP: Final = "warm_up"


def account_for_scalars(run: Run) -> RunAccount:
    """Says since when, and by how much, steps of a run without records take longer.

    Args:
      run: with `drawn_from`.

    Returns:
      The report and the seconds of each step behind it, as `account_for` does. Seconds of a row
      are those of one of its `steps_per_row` steps; the report's sums are of all steps.
    """
    source = run.drawn_from
    assert source is not None
    period = run.steps.period_seconds
    pauses = find_pauses(period, _result_rows(run))
    core = period - pauses.seconds
    diagnosis = diagnose(core)
    late = tuple(each for each in diagnosis.findings if each.pattern != WARM_UP)
    first = tuple(each for each in diagnosis.findings if each.pattern == WARM_UP)
    lost = {
        WARM_UP: sum_per_step(first, len(period)),
        _UNEXPLAINED: sum_per_step(late, len(period)) + diagnosis.unexplained_per_step,
    }
    seconds = {cause: float(each.sum()) for cause, each in lost.items()}
    verdict = verdict_on(
        diagnosis.verdict,
        wall_seconds=float(period.sum()),
        warm_up_seconds=seconds[WARM_UP],
        named_seconds=0.0,
        unexplained_seconds=seconds[_UNEXPLAINED]
        - sum(each.lost_seconds for each in find_wandering(late, len(period))),
    )
    rise = find_rise(core, diagnosis, late) if verdict == "slowdown" else None
    if rise is not None and rise.ratio < (1 + SMALLEST_CHANGE):  # a level that wanders
        verdict, rise = "healthy", None
    report = _report(run, source, diagnosis, verdict, seconds, rise, pauses, first)
    per_cause = lost if first else {_UNEXPLAINED: lost[_UNEXPLAINED]}
    return RunAccount(
        report,
        diagnosis.healthy_per_step + pauses.seconds,
        per_cause,
        tuple(_change_points(diagnosis, late, rise)),
        find_marks(run, ()),
    )


def _report(
    run: Run,
    source: ScalarSource,
    diagnosis: Diagnosis,
    verdict: Verdict,
    seconds: dict[str, float],
    rise: StepRise | None,
    pauses: Pauses,
    first: tuple[Finding, ...],
) -> Report:
    steps, width = run.steps, run.steps_per_row
    wall = width * float(steps.period_seconds.sum())
    lost = width * sum(seconds.values())
    healthy = diagnosis.baseline.seconds
    onset = None if rise is None else int(steps.number[rise.rows[0]])
    changed = () if rise is None else find_changed_scalars(run, rise.rows[0])
    drawn = DrawnFrom(
        source.tag,
        source.writer,
        source.unit,
        source.clock,
        width,
        onset,
        None if rise is None else rise.ratio,
        pauses.count,
        width * float(pauses.seconds.sum()),
        changed,
    )
    return Report(
        run=run.name,
        verdict=verdict,
        headline=describe_headline(verdict, drawn, diagnosis, wall, lost, len(steps)),
        steps=width * len(steps),
        wall_seconds=wall,
        healthy_step_seconds=healthy if np.isfinite(healthy) else None,
        baseline=describe_baseline(run, diagnosis, source.unit),
        lost_seconds=lost,
        lost_fraction=lost / wall if wall > 0 else 0.0,
        unexplained_seconds=width * seconds[_UNEXPLAINED],
        causes=tuple(describe_warm_up(run, first, wall)),
        suspects=(),
        workers=(),
        signals=_signal_states(source),
        completeness={"chunks": 0, "missing_chunks": 0, "gaps": []},
        notes=(
            *describe_changed_scalars(changed, source.unit),
            *describe_pauses(drawn, pauses, wall),
            *describe_gaps(run),
        ),
        as_of=AsOf(int(steps.number[-1]), float(steps.ended[-1])) if len(steps) else None,
        recent=find_recent(run),
        unexplained=None if rise is None else describe_onset(run, rise, source.unit),
        judged="partly",
        blind_spots=(
            f"Only the times of {source.unit}s are known, from points of `{source.tag}`; what they "
            f"were spent on wasn't measured. {REMEDY}",
        ),
        source="scalars",
        scalars=drawn,
        step_rule=describe_source(drawn),
    )


def _result_rows(run: Run) -> Int:
    """Rows in which results of evaluations or epochs were written."""
    return np.array([row for row, _ in run.facts(names.RESULT_WRITTEN)], np.int64)


def _signal_states(source: ScalarSource) -> tuple[SignalState, ...]:
    times_of = SignalState("step_time", "partly", f"drawn from points of `{source.tag}`")
    return (times_of, *(SignalState(name, "unavailable", NOT_RECORDED) for name in _SIGNALS))


def _change_points(
    diagnosis: Diagnosis, late: tuple[Finding, ...], rise: StepRise | None
) -> Iterable[tuple[int, str]]:
    points: dict[int, str] = {}
    if diagnosis.warm_up_rows:
        points[diagnosis.warm_up_rows] = "Warm-up ends"
    for each in late:
        numbers = each.numbers
        if each.source == CORE and each.pattern == "level_shift" and not numbers.get(AT_START):
            more = numbers["after_seconds"] - numbers["before_seconds"]
            points[each.rows[0]] = f"Unexplained: +{duration(more)} from here"
    if rise is not None:
        words = "grows from here" if rise.pattern == "drift" else "begins here"
        points.setdefault(rise.rows[0], f"Unexplained: {words}")
    return sorted(points.items())
