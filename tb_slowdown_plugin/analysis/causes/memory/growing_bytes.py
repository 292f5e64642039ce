"""Which bytes go on growing: those of tensors, or of a process that works on ever more of them."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.trend_tests import SignalGrowth, ends, growth_of
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_GROWN_BYTES, SLOWEST_COMPUTING
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, NOTABLE_GROWTH, SEVERAL

_LIVE: Final = "live_tensor_bytes"
RESIDENT: Final = "rss_bytes"
"""Signal: what the process holds."""


class GrowingBytes(NamedTuple):
    """Memory that goes on growing."""

    growth: SignalGrowth
    what: str
    """As a sentence begins: "Live tensor memory"."""
    holder: str
    """As a sentence begins, with its verb: "The process holds"."""


def find_growing_bytes(
    case: Case, rows: tuple[int, int], levels: tuple[float, float], *, operations_grow: bool
) -> GrowingBytes | None:
    """The bytes that go on growing while steps get longer; None where none explains that.

    Args:
      case: The run.
      rows: First and last row that count, inclusive.
      levels: Seconds of a step at the beginning and at the end of these.
      operations_grow: Whether operations that Python starts take ever longer: then what the whole
        process holds counts, too.
    """
    more = _rise_of_items(case, rows)
    found = (
        _allocator(case, rows),
        _process(case, rows) if operations_grow else None,
        _at_once(case, rows),
    )
    for each in found:
        if each and _takes_so_long(each.growth, levels) and not _is_of_items(each.growth, more):
            return each
    return None


def _takes_so_long(growth: SignalGrowth, levels: tuple[float, float]) -> bool:
    """Whether steps can rise from one level to the other by working on what has grown."""
    return levels[1] - levels[0] <= (growth.last - growth.first) / SLOWEST_COMPUTING


def _rise_of_items(case: Case, rows: tuple[int, int]) -> float:
    """How many times as much input the last steps have as the first ones; 1 where not known."""
    items = case.comparable.items[rows[0] : rows[1] + 1]
    if not len(items) or np.isnan(items).all():
        return 1.0
    first, last = ends(items, (0, len(items) - 1))
    return last / first if first > 0 else 1.0


def _is_of_items(growth: SignalGrowth, more: float) -> bool:
    """Whether tensors grow no more than what steps are given, as with longer sequences."""
    return more > LARGER and growth.last <= LARGER * more * growth.first


def _allocator(case: Case, rows: tuple[int, int]) -> GrowingBytes | None:
    """The bytes of tensors that grow most, if any go on growing."""
    found = []
    for name in (*case.signals_of(names.ALLOCATOR_IN_USE), *case.signals_of(_LIVE)):
        growth = growth_of(case, name, rows)
        if growth is None or not goes_on(growth):
            continue
        if growth.last - growth.first >= max(LEAST_GROWN_BYTES, NOTABLE_GROWTH * growth.first):
            owner = "Live eager tensors hold" if name == _LIVE else ""
            owner = owner or f"The allocator of {names.detail(name)} holds"
            found.append(GrowingBytes(growth, "Live tensor memory", owner))
    return max(found, key=lambda kept: kept.growth.last - kept.growth.first, default=None)


def _at_once(case: Case, rows: tuple[int, int]) -> GrowingBytes | None:
    """The most that tensors took at once, where that goes on growing, and part of it is kept.

    What is kept may be small beside what a step computes with it, and samples that are taken
    amid a step show any part of both. Only the least of several is what is kept.
    """
    found = []
    for name in case.signals_of(names.ALLOCATOR_PEAK):
        growth = growth_of(case, name, rows)
        if growth is None or not goes_on(growth):
            continue
        device = names.detail(name)
        if not _least_grows(case, names.account(names.ALLOCATOR_IN_USE, device), rows):
            continue
        if growth.last - growth.first >= max(LEAST_GROWN_BYTES, NOTABLE_GROWTH * growth.first):
            owner = f"The allocator of {device} has held up to"
            found.append(GrowingBytes(growth, "What tensors take at once", owner))
    return max(found, key=lambda kept: kept.growth.last - kept.growth.first, default=None)


def _least_grows(case: Case, signal: str, rows: tuple[int, int]) -> bool:
    """Whether the least of the last third of the samples is more than that of the first third."""
    where, values = case.signal(signal)
    values = values[(where >= rows[0]) & (where <= rows[1])]
    third = len(values) // 3
    if third < SEVERAL:
        return False
    first, last = float(values[:third].min()), float(values[-third:].min())
    return last - first >= LEAST_GROWN_BYTES and last > LARGER * first


def _process(case: Case, rows: tuple[int, int]) -> GrowingBytes | None:
    """The same of the process, where what takes ever longer are operations that Python starts.

    An allocator that gives all back between two steps shows no growth, and the heap does: what
    is put together anew each time is longer than before.
    """
    growth = growth_of(case, RESIDENT, rows)
    # Beside a place that takes ever longer a few samples are enough.
    if growth is None or growth.one_rise or not (growth.steady or growth.each_time):
        return None
    if growth.last - growth.first < LEAST_GROWN_BYTES:  # most of it is TensorFlow's own
        return None
    return GrowingBytes(growth, "The memory of the process", "The process holds")


def number_grows(case: Case, rows: tuple[int, int]) -> bool | None:
    """Whether there are ever more live tensors, not only larger ones; None where not known."""
    number = growth_of(case, "live_tensors", rows, count=True)
    return None if number is None else number.steady


def tensors_grow(case: Case) -> bool:
    """Whether the live eager tensors take more and more memory in this run."""
    rows = (case.diagnosis.warm_up_rows, len(case.run.steps) - 1)
    growth = growth_of(case, _LIVE, rows)
    return (
        growth is not None and goes_on(growth) and growth.last - growth.first >= LEAST_GROWN_BYTES
    )


def goes_on(growth: SignalGrowth) -> bool:
    """Whether it rises again and again: a buffer that was made once is kept, but no leak."""
    return growth.steady and not growth.one_rise
