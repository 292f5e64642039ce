"""Which steps a capture holds, and where in it each of them lies."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.traces.types import Float, Int, Steps

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


def find_steps(markers: Markers, recorded: Recorded, started: float, seconds: float) -> Steps:
    """The steps in a capture: by its markers, else by the record, else it is taken as one.

    A step begins where the one before it ended, as in the record: what lies
    between two steps is the later one's. The first, of which the capture may have
    missed the beginning, begins with its marker; without markers it is left out.

    Args:
      markers: Perhaps none.
      recorded: Perhaps nothing.
      started: Unix seconds at which the capture began.
      seconds: How long it was.
    """
    if len(markers.number):
        number, ends = markers.number[:MOST_STEPS], markers.ends[:MOST_STEPS]
        begins = np.append(markers.begins[:1], ends[:-1])
        return Steps("step_num", number, _rows(number, started + ends, recorded), begins, ends)
    first, last = np.searchsorted(recorded.ended, (started, started + seconds))
    if last - first >= 2:
        rows = np.arange(first, min(last, first + MOST_STEPS + 1))
        ends = recorded.ended[rows] - started
        return Steps("wall_clock", recorded.number[rows[1:]], rows[1:], ends[:-1], ends[1:])
    none = np.array([-1])
    return Steps("whole", none, none, np.zeros(1), np.array([seconds]))


def places(steps: Steps) -> Int:
    """Where each step is looked up: its row in the run's record.

    Without any row, it is the step's index in the capture. -1: it can't be looked up, the
    record ends before it.

    Example:
      >>> none = np.array([-1, -1])
      >>> places(Steps("step_num", np.array([7, 8]), none, np.zeros(2), np.ones(2))).tolist()
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
