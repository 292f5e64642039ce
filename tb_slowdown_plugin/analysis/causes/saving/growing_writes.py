"""Whether a step writes more and more bytes, enough for what it loses."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, span
from tb_slowdown_plugin.analysis.causes.common.trend_tests import ends
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.text.wording import size
from tb_slowdown_plugin.analysis.types import Finding
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_WRITTEN_GROWTH, SLOWEST_WRITING
from tb_slowdown_plugin.catalog.parameters.shared import SERIES
from tb_slowdown_plugin.records.types import Float

_WRITTEN: Final = "disk_written_bytes"


class GrowingWrites(NamedTuple):
    """Bytes that are written in a step, in the first and in the last third of the run."""

    first: float
    last: float

    def tell(self) -> str:
        """As a sentence begins."""
        return (
            f"Writes grow from {size(self.first)} per step (first third of the run) to "
            f"{size(self.last)} (last third)"
        )


def find_growing_writes(case: Case, claimed: tuple[Finding, ...]) -> GrowingWrites | None:
    """The bytes written in a step, where they rise enough for what these findings lost."""
    writes = _bytes_of_steps(case) if claimed else None
    if writes is None:
        return None
    before, after = ends(case.run.steps.period_seconds, span(claimed))
    most = (writes.last - writes.first) / SLOWEST_WRITING
    return writes if after - before <= most else None


def _bytes_of_steps(case: Case) -> GrowingWrites | None:
    """The bytes written in a step, where they rise for the most part of the run."""
    rows, total = case.signal(_WRITTEN)
    steady = rows >= case.diagnosis.warm_up_rows
    rows, total = rows[steady], total[steady]
    # The end of each of a few equal parts, so that what the kernel counts late evens out.
    edges = np.unique(np.linspace(0, len(rows) - 1, 13).astype(np.int64)) if len(rows) else rows
    rows, total = rows[edges], total[edges]
    moved = np.append(np.diff(rows) > 0, True) if len(rows) else np.empty(0, bool)
    rows, total = rows[moved], total[moved]
    if len(rows) <= SERIES:
        return None
    each: Float = np.diff(total) / np.diff(rows)
    third = len(each) // 3
    writes = GrowingWrites(float(np.median(each[:third])), float(np.median(each[-third:])))
    rises = grows(each)
    return writes if rises and writes.last - writes.first >= LEAST_WRITTEN_GROWTH else None
