"""Steps that compute on larger tensors from some step on, which nobody keeps: more work, no loss.

Of a step that is run operation by operation nothing tells the size of its input. The allocator
does: from that step on it needs more at once, and gives it all back.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.text.wording import duration, percent, size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_GROWN_BYTES
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, MOSTLY, SEVERAL
from tb_slowdown_plugin.records.types import Float, Int


class _Peaks(NamedTuple):
    """What a device's tensors took at once before a step and from it on."""

    device: str
    before: float
    after: float


def split_larger_tensors(case: Case) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """(more work, the rest) of the findings that no rule has claimed.

    Args:
      case: its findings are those that no rule has claimed.
    """
    return case.part(each for each in case.core() if _find_peaks(case, each) is not None)


def tell_larger_tensors(case: Case, more: tuple[Finding, ...]) -> Iterable[str]:
    """From which step on, and how much larger."""
    for finding in more:
        peaks = _find_peaks(case, finding)
        if peaks is not None:
            yield (
                f"From {case.step_text(finding.rows[0])} on, tensors on {peaks.device} take "
                f"{size(peaks.after)} at once instead of {size(peaks.before)}, and all of it is "
                f"freed. The extra time ({duration(finding.lost_seconds)}, "
                f"{percent(case.wall_share(finding.lost_seconds))} of the run) is workload and "
                "isn't counted as lost."
            )


def _find_peaks(case: Case, finding: Finding) -> _Peaks | None:
    """The peaks of a device that rise where the step does, by as much; None without any."""
    first, last = finding.rows
    slower = 1 + finding.numbers.get("growth_fraction", 0.0)
    if finding.pattern != "level_shift" or not 1 < slower < float("inf"):
        return None
    soon = first + int(np.ceil(MATTERS * (last - first)))
    for signal in case.signals_of(names.ALLOCATOR_PEAK):
        device = names.detail(signal)
        in_use = case.signal(names.account(names.ALLOCATOR_IN_USE, device))
        peaks = case.signal(signal)
        before, after = _highest(*peaks, 0, first), _highest(*peaks, first, soon + 1)
        kept = _lowest(*in_use, 0, first), _lowest(*in_use, first, last + 1)
        more = after - before
        if not more >= max(LEAST_GROWN_BYTES, MOSTLY * (slower - 1) * before):
            continue
        if kept[1] - kept[0] < MATTERS * more:
            return _Peaks(device, before, after)
    return None


def _highest(rows: Int, values: Float, first: int, end: int) -> float:
    """Of the samples taken in rows `first` to `end - 1`; NaN without any."""
    inside = values[(rows >= first) & (rows < end)]
    return float(inside.max()) if len(inside) else float("nan")


def _lowest(rows: Int, values: Float, first: int, end: int) -> float:
    """The same; NaN where too few samples could all lie amid a step."""
    inside = values[(rows >= first) & (rows < end)]
    return float(inside.min()) if len(inside) >= SEVERAL else float("nan")
