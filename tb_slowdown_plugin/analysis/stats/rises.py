"""Why a level is above its lowest: what jumped, what grew, and what the run began with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tb_slowdown_plugin.analysis.stats.segments import Part
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, TELLING
from tb_slowdown_plugin.catalog.parameters.stats import LONGEST_DIP, PERSISTENCE, SMALLEST_CHANGE
from tb_slowdown_plugin.records.types import Float


@dataclass(frozen=True, slots=True)
class Rise:
    """One reason why the level is above its lowest: a jump, growth, or a slow first part."""

    pattern: Literal["level_shift", "drift"]
    at_start: bool
    """The run was slow from its beginning and got faster."""
    height: Float
    """(B,) what it adds to the level in each bucket, in the unit of the series."""
    before: float
    after: float
    """The level right before it and at its highest."""
    z: float
    """Standard errors of long-run noise."""


def find_base(level: Float, parts: list[Part], warm_up: int) -> tuple[float, tuple[int, int]]:
    """The lowest level that was held, and where; a dip that the run came back from is not it."""
    count = len(level)
    held = [
        part
        for index, part in enumerate(parts)
        if part.end - part.first >= PERSISTENCE * count and not _is_dip(level, parts, index)
    ]
    if not held:
        return float(np.median(level[warm_up:])), (warm_up, count)
    best = min(held, key=lambda part: float(level[part.first : part.end].min()))
    return _lowest_held(level[best.first : best.end], count), (best.first, best.end)


def _lowest_held(inside: Float, count: int) -> float:
    """The lowest level of a part; of one that rises at once, the one that it rises to."""
    ordered = np.sort(inside)
    lowest, highest = float(ordered[0]), float(ordered[-1])
    held = float(ordered[min(int(np.ceil(PERSISTENCE * count)), len(ordered) - 1)])
    return held if held - lowest > MAJORITY * (highest - lowest) else lowest


def _is_dip(level: Float, parts: list[Part], index: int) -> bool:
    """Whether a short part between two slower ones is the odd one out, rather than they."""
    part = parts[index]
    if index in (0, len(parts) - 1) or part.end - part.first > LONGEST_DIP * len(level):
        return False
    before = level[parts[index - 1].first : parts[index - 1].end].min()
    after = level[parts[index + 1].first : parts[index + 1].end].min()
    own = level[part.first : part.end].max()
    return bool(own < before and own < after)


@dataclass(slots=True)
class _OpenRise:
    pattern: Literal["level_shift", "drift"]
    at_start: bool
    part: int
    before: float
    now: float
    heights: Float


def find_rises(
    level: Float, base: float, parts: list[Part], warm_up: int, variance: float
) -> tuple[Rise, ...]:
    """Splits what is above the base into its reasons; what came last goes first.

    Args:
      level: (B,) the fitted level.
      base: What of it is healthy.
      parts: The parts it consists of.
      warm_up: Leading buckets to leave out.
      variance: Long-run variance of a bucket's logarithm.
    """
    count = len(level)
    part_of = np.zeros(count, np.int64)
    for index, stretch in enumerate(parts):
        part_of[stretch.first : stretch.end] = index
    above = np.maximum(level, base)
    stack: list[_OpenRise] = []
    closed: list[_OpenRise] = []
    previous = base
    for position in range(warm_up, count):
        change = float(above[position]) - previous
        part = int(part_of[position])
        grows = parts[part].grows
        jumped = position == warm_up or part != part_of[position - 1]
        if change > 0:
            top = stack[-1] if stack else None
            if jumped or top is None or top.part != part:
                pattern: Literal["level_shift", "drift"]
                pattern = "drift" if grows and not jumped else "level_shift"
                at_start = position == warm_up
                top = _OpenRise(pattern, at_start, part, previous, 0.0, np.zeros(count))
                if pattern == "level_shift":
                    top.part = -1
                stack.append(top)
            top.now += change
        while change < 0 and stack:
            top = stack[-1]
            taken = min(top.now, -change)
            top.now -= taken
            change += taken
            if top.now > max(TELLING * float(top.heights.max()), SMALLEST_CHANGE * base):
                break
            # What is left is noise in the two levels; it goes to what was there before.
            closed.append(stack.pop())
            if stack:
                stack[-1].now += top.now
        for rise in stack:
            rise.heights[position] = rise.now
        previous = float(above[position])
    rises = []
    for rise in closed + stack:
        after = rise.before + float(rise.heights.max())
        held = max(1, int(np.count_nonzero(rise.heights)))
        error = np.sqrt(variance * (1 / held + 1 / max(1, count - warm_up - held)))
        z = float(np.log(after / rise.before) / error) if rise.before > 0 else np.inf
        rises.append(Rise(rise.pattern, rise.at_start, rise.heights, rise.before, after, z))
    return tuple(rises)
