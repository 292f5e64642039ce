"""What each device does in each step: it computes, waits for others, for copies, for the host."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.profiler.intervals import Windows, merge
from tb_slowdown_plugin.profiler.types import CaptureTrace, Float, Int, Shares
from tb_slowdown_plugin.records.capture import DeviceShare

Ints = NDArray[np.int64]


class Stretches(NamedTuple):
    """Stretches of time in groups."""

    group: Ints
    begins: Ints
    ends: Ints

    def merged(self, *others: Stretches) -> Stretches:
        """These and others, without overlap."""
        columns = zip(self, *others, strict=True)
        return Stretches(*merge(*(np.concatenate(column) for column in columns)))

    def lengths(self, groups: int) -> Float:
        """(groups,) seconds; the stretches of a group must not overlap."""
        return np.bincount(self.group, self.ends - self.begins, groups) / 1e9


def shares_of(
    computes: Stretches, communicates: Stretches, copies: Stretches, windows: Windows, devices: int
) -> Shares:
    """Tells apart what each device does in each window.

    Args:
      computes: Without overlap; the group is the window times `devices` plus the device.
      communicates: Without overlap, in the same groups.
      copies: Without overlap, in the same groups.
      windows: The steps.
      devices: How many there are.
    """
    groups = np.unique(np.concatenate([computes.group, communicates.group, copies.group]))
    count = len(groups)
    parts = [
        part._replace(group=np.searchsorted(groups, part.group))
        for part in (computes, communicates, copies)
    ]
    working = parts[0].merged(parts[1])
    busy = working.merged(parts[2])
    seconds = [part.lengths(count) for part in (parts[0], working, busy, parts[1])]
    step = groups // max(1, devices)
    return Shares(
        device=groups % max(1, devices),
        step=step,
        seconds=(windows.ends - windows.begins)[step] / 1e9,
        computes=seconds[0],
        communicates=seconds[1] - seconds[0],
        copies=seconds[2] - seconds[1],
        hidden=np.maximum(0.0, seconds[3] - (seconds[1] - seconds[0])),
    )


def device_shares(
    trace: CaptureTrace, steps: Iterable[int] | None = None
) -> tuple[DeviceShare, ...]:
    """What each device does in the steps in which it works, in the order of the devices.

    Args:
      trace: A capture.
      steps: Indices of the steps that count; None: all.
    """
    shares = trace.shares
    counts: NDArray[np.bool_] = np.ones(len(shares.step), bool)
    if steps is not None:
        counts = np.isin(shares.step, np.fromiter(steps, np.int64))
    device: Int = shares.device[counts]

    def total(column: Float) -> Float:
        found: Float = np.bincount(device, column[counts], len(trace.devices)).astype(np.float64)
        return found

    columns = [
        total(column)
        for column in (
            shares.seconds, shares.computes, shares.communicates, shares.copies, shares.hidden
        )
    ]  # fmt: skip
    worked = np.bincount(device, minlength=len(trace.devices))
    return tuple(
        DeviceShare(name, int(worked[at]), *(float(column[at]) for column in columns))
        for at, name in enumerate(trace.devices)
        if worked[at]
    )
