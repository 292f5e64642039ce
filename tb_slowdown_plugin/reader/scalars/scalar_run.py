"""From points of scalars to the steps of a run: what any logdir tells without our records.

A point has a step number and a wall time, so two of them tell how long the steps between
them took. The steps are put on an even grid: each row stands for as many of them as lie
between most points, and holds their mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.reader.scalars.scalar_series import (
    ScalarSeries,
    choose_pace,
    is_by_epoch,
    meaning_of,
)
from tb_slowdown_plugin.records.run import Run, ScalarSource, Session
from tb_slowdown_plugin.records.types import (
    Environment,
    Event,
    Fact,
    Float,
    Idle,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)

FEWEST_POINTS: Final = 3
"""Points of a tag from which they are a run's steps; fewer are results."""
_MODAL_SHARE: Final = 0.6
"""Share of the gaps between points that must be of one length to be the grid's."""
_STOP_SECONDS: Final = 600.0
_STOP_RATIO: Final = 50.0
_MOST_STOPS: Final = 3
"""A gap of so many seconds, and of so many usual ones, is a program that stood still. More of
them are pauses of a plan. All chosen by hand."""
_SIDE_BY_SIDE: Final = 0.05
"""Share of points that go back, from which several processes write. Resumes are fewer."""
_HOLE_RATIO: Final = 30
"""A gap of so many usual ones in steps: those between were made elsewhere. Of points
that are sampled at random, one gap in a billion is as long."""
_RESOLUTION_ROWS: Final = 20
"""A row lasts so many times as long as the clock's resolution: then rounding is 5% of it."""
_BUNCH_ROWS: Final = 32
_BUNCHED_RATIO: Final = 0.02
_BUNCHED_SHARE: Final = 0.1
"""Where points come in bunches, so large a share of rows is so short beside the rows around."""
_FEWEST_ROWS: Final = 24
"""Rows that are left at least where they are made longer, so that the clock can resolve them."""
_WRITTEN_AT_ONCE_SECONDS: Final = 0.01
"""Between points: a file that is made of another log has 0.02 to 0.1 ms between them."""
_TOO_SHORT: Final = 5.0
"""What a step takes by a rate, over what it takes by wall times that can't be of the training."""
_MOST_ROWS: Final = 1 << 20
_MOST_ROWS_OF_POINT: Final = 16
"""Rows between points that are farther apart than usual all hold the same mean."""
_LONGEST_STEP_SECONDS: Final = 1e9
_LARGEST_VALUE: Final = 1e100
"""Of another scalar: a loss that overflows is no level."""
_MOST_SIGNALS: Final = 32
_MOST_SAMPLES: Final = 1 << 14
"""Samples of each: more than a screen shows, and enough to place a change."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Points of one process in ascending steps: between two stretches it went back or stopped."""

    step: Int
    time: Float
    """(P,) Unix seconds."""


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of an even grid."""

    number: Int
    seconds: Float
    """(S,) mean seconds of a step."""
    ended: Float


def run_from_scalars(name: str, series: Collection[ScalarSeries]) -> Run | None:
    """A run whose steps are the points of its densest training tag.

    Args:
      name: The run as the user knows it.
      series: All that was written of it, of all its writers.

    Returns:
      None where no tag has enough points.
    """
    pace = choose_pace([one for one in series if len(one) >= FEWEST_POINTS])
    if pace is None:
        return None
    stretches = _stretches(pace)
    width, tables = _even_rows(stretches)
    by_wall_times = _mean_seconds(tables)
    timed_by_values = (
        _rows_from_values(series, pace, by_wall_times)
        if by_wall_times * width < _WRITTEN_AT_ONCE_SECONDS
        else None
    )
    if timed_by_values is not None:
        pace, width, tables = timed_by_values
    elif not by_wall_times > 0:
        tables = []
    firsts = np.cumsum([0, *(len(rows.number) for rows in tables)]).tolist()
    steps = _table(tables)
    breaks = list(zip(tables, tables[1:], firsts[1:-1], strict=False))
    gaps = [float(b.ended[0] - b.seconds[0] * width - a.ended[-1]) for a, b, _ in breaks]
    return Run(
        name=name,
        steps=steps,
        signals=_signals(series, pace, steps) if len(steps) else no_signals(),
        events=(
            *(
                Event(first, float(rows.ended[0]), Idle(gap))
                for (_, rows, first), gap in zip(breaks, gaps, strict=True)
                if gap > 0
            ),
            *_results(series, pace, steps),
        ),
        environment=Environment(),
        sessions=tuple(
            Session(f"scalars-{index}", first, float(rows.ended[0] - rows.seconds[0] * width), 0, 0)
            for index, (rows, first) in enumerate(zip(tables, firsts, strict=False))
        ),
        steps_per_row=width,
        drawn_from=ScalarSource(
            pace.tag,
            pace.writer,
            "values" if timed_by_values is not None else "wall_times",
            "epoch" if is_by_epoch(pace.tag) and _counts_by_one(pace.step) else "step",
            sum(max(gap, 0.0) for gap in gaps),
        ),
    )


def run_without_steps(name: str, writer: str, tag: str) -> Run:
    """A run whose scalars have too few points: results, or training that has just begun."""
    source = ScalarSource(tag, writer, "wall_times", "step")
    return Run(name, no_steps(), no_signals(), (), Environment(), (), drawn_from=source)


def _stretches(pace: ScalarSeries) -> list[_Stretch]:
    """The points by processes, in the order of time, one a step."""
    step, time = _in_order(pace)
    new = np.append(True, np.diff(step) != 0)[: len(step)]
    step, time = step[new], time[new]
    if len(step) < 2:
        return []
    gaps = np.diff(time)
    long = gaps >= max(_STOP_SECONDS, _STOP_RATIO * float(np.median(gaps)))
    stops = long if int(long.sum()) <= _MOST_STOPS else np.zeros_like(long)
    jumps = np.diff(step)
    holes = jumps > _HOLE_RATIO * _usual_gap(np.abs(jumps))
    cuts = np.flatnonzero((jumps < 0) | (gaps < 0) | holes | stops) + 1
    parts = zip(np.split(step, cuts), np.split(time, cuts), strict=True)
    return [_Stretch(steps, times) for steps, times in parts if len(steps) > 1]


def _in_order(pace: ScalarSeries) -> tuple[Int, Float]:
    """Steps and times as they came, of several processes that write side by side the foremost.

    Where a clock was set back, the steps tell the order; else time does.
    """
    known = np.isfinite(pace.time)
    step, time = pace.step[known], pace.time[known]
    if np.any(np.diff(step)[np.diff(time) < 0] <= 0):
        order = np.argsort(time, kind="stable")
        step, time = step[order], time[order]
    if np.mean(np.diff(step) < 0) > _SIDE_BY_SIDE if len(step) > 1 else False:
        ahead = np.append(True, step[1:] > np.maximum.accumulate(step)[:-1])
        step, time = step[ahead], time[ahead]
    return step, time


def _even_rows(stretches: Sequence[_Stretch]) -> tuple[int, list[_Rows]]:
    """Steps in a row, and the rows of each stretch, as long as the clock can resolve."""
    if not stretches:
        return 1, []
    gaps = np.concatenate([np.diff(stretch.step) for stretch in stretches])
    width = _usual_gap(gaps)
    total = sum(int(stretch.step[-1] - stretch.step[0]) for stretch in stretches)
    most = min(_MOST_ROWS, _MOST_ROWS_OF_POINT * (len(gaps) + 1))
    width *= max(1, -(-total // (width * most)))
    tables = _grids(stretches, width)
    while not _is_resolved(stretches, tables, width):
        wider = _grids(stretches, 2 * width)
        if sum(len(rows.number) for rows in wider) < _FEWEST_ROWS:
            break  # the noise of a coarse clock is left to the analysis
        width, tables = 2 * width, wider
    return width, tables


def _grids(stretches: Sequence[_Stretch], width: int) -> list[_Rows]:
    return [rows for stretch in stretches if (rows := _grid(stretch, width)) is not None]


def _usual_gap(gaps: Int) -> int:
    """The gap that most points have; their median where none prevails."""
    values, counts = np.unique(gaps, return_counts=True)
    most = int(np.argmax(counts))
    if counts[most] >= _MODAL_SHARE * len(gaps):
        return int(values[most])
    return max(1, int(np.median(gaps)))


def _grid(stretch: _Stretch, width: int) -> _Rows | None:
    """The rows of a stretch; what lies before the first point of the grid is left out."""
    phases, counts = np.unique(stretch.step % width, return_counts=True)
    phase = int(phases[np.argmax(counts)])
    first = int(stretch.step[0]) + (phase - int(stretch.step[0])) % width
    edges = np.arange(first, int(stretch.step[-1]) + 1, width)
    if len(edges) < 2:
        return None
    times = np.interp(edges, stretch.step, stretch.time)
    return _Rows(edges[1:].astype(np.int64), np.diff(times) / width, times[1:])


def _is_resolved(stretches: Sequence[_Stretch], tables: Sequence[_Rows], width: int) -> bool:
    """Whether the clock of the points can tell one row from the next."""
    if not tables:
        return False
    seconds = np.concatenate([rows.seconds for rows in tables]) * width
    if not np.median(seconds) > 0:
        return False
    whole = all(np.all(stretch.time % 1 == 0) for stretch in stretches)
    if whole and np.median(seconds) < _RESOLUTION_ROWS:
        return False
    width = min(_BUNCH_ROWS, len(seconds))
    around = np.convolve(seconds, np.ones(width) / width, mode="same")
    return bool(np.mean(seconds < _BUNCHED_RATIO * around) <= _BUNCHED_SHARE)


def _mean_seconds(tables: Sequence[_Rows]) -> float:
    """Of a step; 0 without one."""
    seconds = [rows.seconds for rows in tables]
    return float(np.concatenate(seconds).mean()) if seconds else 0.0


def _rows_from_values(
    series: Collection[ScalarSeries], pace: ScalarSeries, by_wall_times: float
) -> tuple[ScalarSeries, int, list[_Rows]] | None:
    """Rows timed by a tag that says how long steps take, where wall times are far too short.

    So they are in a file that was written after the training. Otherwise wall times hold what the
    tag leaves out.
    """
    for one in sorted(series, key=len, reverse=True):
        meaning = meaning_of(one.tag, one.writer)
        if meaning not in ("rate", "step_seconds") or len(one) < FEWEST_POINTS:
            continue
        order = np.argsort(one.step, kind="stable")
        step, value = one.step[order], one.value[order]
        told = (value > 1 / _LONGEST_STEP_SECONDS) & (value < _LONGEST_STEP_SECONDS)
        known = told & (np.diff(step, prepend=step[0] - 1) > 0)
        seconds = 1 / value[known] if meaning == "rate" else value[known]
        if known.sum() < FEWEST_POINTS or np.mean(seconds) < _TOO_SHORT * by_wall_times:
            continue
        step = step[known]
        width = _usual_gap(np.diff(step))
        ended = float(pace.time[0]) + np.cumsum(seconds * width)
        return one, width, [_Rows(step, seconds, ended)]
    return None


def _counts_by_one(step: Int) -> bool:
    return bool(np.median(np.abs(np.diff(step))) == 1)


def _table(tables: Sequence[_Rows]) -> StepTable:
    if not tables:
        return no_steps()
    number = np.concatenate([rows.number for rows in tables])
    seconds = np.concatenate([rows.seconds for rows in tables])
    unknown = np.full(len(number), np.nan)
    return StepTable(
        number=number,
        period_seconds=seconds,
        inside_seconds=seconds,
        process_cpu_seconds=unknown,
        thread_cpu_seconds=unknown,
        ended=np.concatenate([rows.ended for rows in tables]),
        items=unknown,
        kind=np.zeros(len(number), np.int64),
        kinds=("step",),
    )


def _results(
    series: Collection[ScalarSeries], pace: ScalarSeries, steps: StepTable
) -> Iterator[Event]:
    """Where results of evaluations and epochs were written: a long step there is a pause."""
    times = [
        one.time
        for one in series
        if one is not pace
        and (is_by_epoch(one.tag) or meaning_of(one.tag, one.writer) == "evaluation")
    ]
    if not times or not len(steps):
        return
    rows = np.unique(np.searchsorted(steps.ended, np.concatenate(times)))
    for row in rows[rows < len(steps)].tolist():
        yield Event(row, float(steps.ended[row]), Fact(names.RESULT_WRITTEN))


def _signals(series: Collection[ScalarSeries], pace: ScalarSeries, steps: StepTable) -> SignalTable:
    """The other scalars, at the rows: what may have changed when steps became slower.

    Their own step numbers may count something else (epochs, examples), so wall times place them.
    """
    others = sorted(
        (one for one in series if _may_matter(one, pace)), key=lambda one: (-len(one), one.tag)
    )
    rows = np.arange(0, len(steps), max(1, -(-len(steps) // _MOST_SAMPLES)))
    ended = steps.ended[rows]
    values: dict[str, Float] = {}
    for one in others[:_MOST_SIGNALS]:
        order = np.argsort(one.time, kind="stable")
        at = np.searchsorted(one.time[order], ended, side="right") - 1
        found = one.value[order][np.maximum(at, 0)]
        known = (at >= 0) & (np.abs(found) < _LARGEST_VALUE)
        values.setdefault(names.account(names.SCALAR, one.tag), np.where(known, found, np.nan))
    return SignalTable(time=ended, row=rows + 1, values=values) if values else no_signals()


def _may_matter(one: ScalarSeries, pace: ScalarSeries) -> bool:
    return one is not pace and len(one) > 1 and meaning_of(one.tag, one.writer) == "training"
