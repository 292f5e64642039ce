"""When memory runs out, if it goes on growing as it did in the second half of the run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.stats.time_trend import goes_on_growing
from tb_slowdown_plugin.analysis.text.wording import duration, size
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.shared import NEGLIGIBLE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

_STRETCHES: Final = 16


class _Memory(NamedTuple):
    what: str
    used: Float
    left: Float
    """(R,) bytes that were still to be had at each sample."""
    limit: str


def forecast(run: Run) -> Iterable[str]:
    """A sentence for each kind of memory that grows towards its limit.

    Args:
      run: The run; only samples of its last process count.
    """
    signals = run.signals
    first_row = run.sessions[-1].first_row if run.sessions else 0
    for memory in _kinds(run):
        known = ~np.isnan(memory.used + memory.left) & (signals.row >= first_row)
        sentence = _tell(memory, signals.time[known], memory.used[known], memory.left[known])
        if sentence:
            yield sentence


def _kinds(run: Run) -> Iterable[_Memory]:
    values = run.signals.values
    resident = values.get("rss_bytes")
    limit = values.get("container_memory_limit_bytes")
    free = values.get("memory_available_bytes")
    if resident is not None and limit is not None:
        # Not what the container uses: that holds pages of files, which go when asked for.
        text = f"the limit of its container, {size(float(np.nanmax(limit)))},"
        yield _Memory("The process", resident, limit - resident, text)
    elif resident is not None and free is not None:
        yield _Memory("The process", resident, free, "the end of the machine's memory")
    for name, used in values.items():
        if names.family(name) != names.ALLOCATOR_IN_USE:
            continue
        device = names.detail(name)
        for of_limit in (names.ALLOCATOR_LIMIT, names.GPU_MEMORY_TOTAL):
            allowed = values.get(names.account(of_limit, device))
            if allowed is not None:
                text = f"the limit of {size(float(np.nanmax(allowed)))}"
                yield _Memory(f"TensorFlow's allocator of {device}", used, allowed - used, text)
                break


def _tell(memory: _Memory, time: Float, used: Float, left: Float) -> str:
    if len(time) < 2:
        return ""
    late = time >= (time[0] + time[-1]) / 2
    time, used, remaining = time[late], used[late], float(left[-1])
    parts = [part for part in np.array_split(np.arange(len(time)), _STRETCHES) if len(part)]
    levels = np.array([np.median(used[part]) for part in parts])
    moments = np.array([np.mean(time[part]) for part in parts])
    passed = float(moments[-1] - moments[0])
    grown = float(levels[-1] - levels[0])
    if passed <= 0 or not goes_on_growing(used):
        return ""
    if remaining <= 0 or grown < NEGLIGIBLE * remaining:
        return ""
    per_second = grown / passed
    return (
        f"{memory.what} takes {size(60 * per_second)} more each minute: at this growth "
        f"{memory.limit} is reached {duration(remaining / per_second)} after the last sample."
    )
