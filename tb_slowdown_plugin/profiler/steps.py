"""Which steps a capture holds, and where in it each of them lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.profiler.types import Float, Int, StepsBy, TraceSteps

_NEAR: Final = 8
"""Rows beside the end of a marker: on a busy machine the monitor reads its clock later."""
MOST_STEPS: Final = 5_000
"""Steps of a capture that are told apart; the others of a longer one are left out."""


class Markers(NamedTuple):
    """The profiler's step annotations, ascending, without overlap; `M` of them."""

    number: Int
    begins: Float
    """(M,) seconds from the beginning of the trace."""
    ends: Float


class DeviceSpan(NamedTuple):
    """A stretch of a device's time that the profiler says belongs to a step."""

    device: int
    group: int
    """The same for what belongs together."""
    number: int
    """Of the step, as the profiler calls it."""
    begin: int
    """Nanoseconds from the beginning of the trace."""
    end: int


class Recorded(NamedTuple):
    """What the monitor recorded of the run's steps; `S` of them."""

    number: Int
    ended: Float
    """(S,) Unix seconds, ascending."""
    period: Float
    """(S,) seconds."""
    steps_per_row: int = 1
    """As in `Run`: more than 1 where several steps share a row."""


def nothing_recorded() -> Recorded:
    """A run without steps."""
    return Recorded(np.empty(0, np.int64), np.empty(0), np.empty(0))


def find_steps(
    markers: Markers,
    recorded: Recorded,
    started: float,
    seconds: float,
    *,
    step_line: Sequence[DeviceSpan] = (),
    groups: Sequence[DeviceSpan] = (),
    worked: tuple[float, float] | None = None,
) -> TraceSteps:
    """The steps in a capture: the first of five ways that finds any.

    By its markers; by what devices hold on a line "Steps"; by the groups that their
    kernels belong to; by the record; else the capture is taken as one, from the first
    to the last that devices did in it.

    A step begins where the one before it ended, as in the record: what lies
    between two steps is the later one's. The first, of which the capture may have
    missed the beginning, begins with its marker; without markers it is left out.

    Args:
      markers: Perhaps none.
      recorded: Perhaps nothing.
      started: Unix seconds at which the capture began.
      seconds: How long it was.
      step_line: The devices' own steps.
      groups: Kernels, each with its group.
      worked: First and last second in which a device did something; None: no device tells.
    """
    if len(markers.number):
        number, ends = markers.number[:MOST_STEPS], markers.ends[:MOST_STEPS]
        begins = np.append(markers.begins[:1], ends[:-1])
        return TraceSteps("step_num", number, _rows(number, started + ends, recorded), begins, ends)
    if step_line:
        return _by_devices("step_line", step_line, recorded, started)
    if len({span.group for span in groups}) > 1:
        return _by_devices("group_id", groups, recorded, started)
    first, last = np.searchsorted(recorded.ended, (started, started + seconds))
    if last - first >= 2:
        rows = np.arange(first, min(last, first + MOST_STEPS + 1))
        ends = recorded.ended[rows] - started
        return TraceSteps("wall_clock", recorded.number[rows[1:]], rows[1:], ends[:-1], ends[1:])
    none = np.array([-1])
    begin, end = worked or (0.0, seconds)
    return TraceSteps("whole", none, none, np.array([begin]), np.array([end]))


class _Step(NamedTuple):
    number: int
    begin: int
    end: int
    devices: frozenset[int]


def _by_devices(
    by: StepsBy, spans: Sequence[DeviceSpan], recorded: Recorded, started: float
) -> TraceSteps:
    """What devices did at the same time in one group is one step.

    Where a device had an earlier step, its step begins at the end of that. A step of the
    record has the number that it has there.
    """
    whole = _join(spans, same_device=by == "group_id")
    found: list[tuple[int, int, int]] = []
    before: _Step | None = None
    for step in whole:
        begin = step.begin
        if before is not None and (step.devices & before.devices or begin < before.end):
            begin = before.end
        if step.end > begin and len(found) < MOST_STEPS:
            found.append((step.number, begin, step.end))
            before = step
    columns = np.array(found, np.int64).reshape(-1, 3)
    number, begins, ends = columns[:, 0].copy(), columns[:, 1] / 1e9, columns[:, 2] / 1e9
    rows = _nearest_rows(started + ends, recorded)
    known = rows >= 0
    number[known] = recorded.number[rows[known]]
    return TraceSteps(by, number, rows, begins, ends)


def _join(spans: Sequence[DeviceSpan], *, same_device: bool) -> list[_Step]:
    """Spans of a group that overlap, or, of kernels, lie on one device; by their ends."""
    open_ones: dict[int, _Step] = {}
    closed: list[_Step] = []
    for span in sorted(spans, key=lambda span: span.begin):
        last = open_ones.get(span.group)
        if last is not None and (
            span.begin < last.end or (same_device and span.device in last.devices)
        ):
            end, devices = max(last.end, span.end), last.devices | {span.device}
            open_ones[span.group] = last._replace(end=end, devices=devices)
        else:
            if last is not None:
                closed.append(last)
            open_ones[span.group] = _Step(
                span.number, span.begin, span.end, frozenset((span.device,))
            )
    return sorted([*closed, *open_ones.values()], key=lambda step: step.end)


def places(steps: TraceSteps) -> Int:
    """Where each step is looked up: its row in the run's record.

    Without any row, it is the step's index in the capture. -1: it can't be looked up, the
    record ends before it.

    Example:
      >>> none = np.array([-1, -1])
      >>> places(TraceSteps("step_num", np.array([7, 8]), none, np.zeros(2), np.ones(2))).tolist()
      [0, 1]
    """
    return steps.row if (steps.row >= 0).any() else np.arange(len(steps))


def rows_of(started: float, seconds: float, recorded: Recorded) -> tuple[int, int] | None:
    """First and last row of the steps during which a capture was on, None where there are none.

    Args:
      started: Unix seconds.
      seconds: How long it was on.
      recorded: The run's steps.
    """
    ended = recorded.ended
    if not len(ended):
        return None
    began = ended - recorded.period
    first = int(np.searchsorted(ended, started, side="right"))
    last = int(np.searchsorted(began, started + seconds, side="left")) - 1
    return (first, last) if first <= last else None


def _nearest_rows(ended: Float, recorded: Recorded) -> Int:
    """The row of each step: that whose end is nearest, -1 where none is within half a step."""
    if not len(recorded.ended):
        return np.full(len(ended), -1)
    after = np.clip(np.searchsorted(recorded.ended, ended), 1, max(1, len(recorded.ended) - 1))
    after = np.minimum(after, len(recorded.ended) - 1)
    before = np.maximum(after - 1, 0)
    is_before = ended - recorded.ended[before] < recorded.ended[after] - ended
    row = np.where(is_before, before, after)
    row[np.abs(recorded.ended[row] - ended) > recorded.period[row]] = -1
    return row


def _rows(number: Int, ended: Float, recorded: Recorded) -> Int:
    """The row of each step: that with its number whose end is nearest, -1 if none is near."""
    rows = np.full(len(number), -1)
    if not len(recorded.ended):
        return rows
    near = np.searchsorted(recorded.ended, ended)
    if recorded.steps_per_row > 1:  # their own numbers are not kept
        began = recorded.ended[0] - recorded.period[0]
        inside = (ended > began) & (near < len(recorded.ended))
        return np.where(inside, near, -1)
    best = np.full(len(number), np.inf)
    for shift in range(-_NEAR, _NEAR + 1):
        at = np.clip(near + shift, 0, len(recorded.ended) - 1)
        apart = np.abs(recorded.ended[at] - ended)
        better = (recorded.number[at] == number) & (apart < best)
        rows[better], best[better] = at[better], apart[better]
    rows[best > 2 * np.median(recorded.period) + 1.0] = -1
    return rows
