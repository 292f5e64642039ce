"""What is known of one capture: the steps in it, and where their time went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.profiler.event_names import Direction
from tb_slowdown_plugin.records.capture import CapturedAllocator, Kind, Part

Float = NDArray[np.float64]
Int = NDArray[np.int64]

StepsBy = Literal["step_num", "step_line", "group_id", "wall_clock", "whole"]


@dataclass(frozen=True, slots=True)
class TraceSteps:
    """The steps in a capture; `W` of them."""

    by: StepsBy
    """How they were found: the profiler's step markers; the devices' line "Steps"; the groups
    of kernels; the monitor's record of when steps ended; or not at all, and the capture is
    taken as one."""
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
class Total:
    """An item in the whole capture, inside of steps and outside."""

    kind: Kind
    part: Part
    name: str
    calls: int
    seconds: float
    """Sum of all calls, however many ran at a time; of nested operations without those inside."""


@dataclass(frozen=True, slots=True)
class Copied:
    """Copies of all devices in the whole capture, one way."""

    calls: int
    seconds: float
    """Sum of all of them."""
    bytes: int | None
    """None where a copy does not say."""


class Shares(NamedTuple):
    """What each device does in each step in which it works; `K` of such pairs."""

    device: Int
    """(K,) index into `CaptureTrace.devices`."""
    step: Int
    """(K,)"""
    seconds: Float
    """(K,) length of the step."""
    computes: Float
    communicates: Float
    """(K,) while it does not compute."""
    copies: Float
    """(K,) while it does neither."""
    hidden: Float
    """(K,) communication while it computes."""


@dataclass(frozen=True, slots=True)
class Function:
    """A `tf.function` that was called."""

    name: str
    calls: int
    traced: int
    """Calls that traced it."""
    seconds: float


@dataclass(frozen=True, slots=True)
class CaptureTrace:
    """One capture on one host. `W` steps, `I` items, `C` cells."""

    started: float
    """Unix seconds, NaN where the file does not tell."""
    seconds: float
    devices: tuple[str, ...]
    events: int
    steps: TraceSteps
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
    totals: tuple[Total, ...]
    """Those of each part with the most seconds in the whole capture, the largest first."""
    copied: Mapping[Direction, Copied]
    """Copies that devices made; empty where no device tells."""
    device_seconds: Mapping[str, float]
    """Device -> seconds of the whole capture in which it computes, each moment once."""
    shares: Shares
    functions: tuple[Function, ...]
    allocators: tuple[CapturedAllocator, ...]
    notes: tuple[str, ...]

    def item_seconds(self) -> Float:
        """(I,) mean seconds of an item in a step."""
        total = np.bincount(self.cell_item, self.cell_seconds, len(self.items))
        return total / max(1, len(self.steps))
