"""What is known of one capture: the steps in it, and where their time went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.records.captured import Allocator, Kind, Part

Float = NDArray[np.float64]
Int = NDArray[np.int64]

StepsBy = Literal["step_num", "wall_clock", "whole"]


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps in a capture; `W` of them."""

    by: StepsBy
    """How they were found: the profiler's step markers; the monitor's record of when steps
    ended; or not at all, and the capture is taken as one."""
    number: Int
    """(W,) -1 where it is not known."""
    row: Int
    """(W,) of the run's record, -1 where it has none."""
    begins: Float
    """(W,) seconds from the beginning of the trace, at the end of the step before."""
    ends: Float
    """(W,)"""

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True, slots=True)
class Item:
    """An operation, a stage, a copy ...: what time is told of."""

    kind: Kind
    part: Part
    name: str
    calls: int
    """In all steps."""
    busy_seconds: float
    """Sum of all calls in the steps, however many ran at a time."""


@dataclass(frozen=True, slots=True)
class Function:
    """A `tf.function` that was called."""

    name: str
    calls: int
    traced: int
    """Calls that traced it."""
    seconds: float


@dataclass(frozen=True, slots=True)
class Trace:
    """One capture on one host. `W` steps, `I` items, `C` cells."""

    started: float
    """Unix seconds, NaN where the file does not tell."""
    seconds: float
    devices: tuple[str, ...]
    events: int
    steps: Steps
    parts: Mapping[Part, Float]
    """part -> (W,) seconds of each step; they sum up to the step."""
    items: tuple[Item, ...]
    cell_item: Int
    """(C,)"""
    cell_step: Int
    """(C,) index into the steps."""
    cell_seconds: Float
    """(C,) seconds of the step in which at least one call of the item was under way; of a
    stage, without the stages that it asks."""
    functions: tuple[Function, ...]
    allocators: tuple[Allocator, ...]
    notes: tuple[str, ...]

    def item_seconds(self) -> Float:
        """(I,) mean seconds of an item in a step."""
        total = np.bincount(self.cell_item, self.cell_seconds, len(self.items))
        return total / max(1, len(self.steps))
