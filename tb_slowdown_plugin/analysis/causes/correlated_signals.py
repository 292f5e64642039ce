"""Which signals moved together with lost seconds: suspects, not culprits.

Two things that grow always correlate. So a signal counts as a companion of a
jump only if it jumps right there, far more than anywhere else, and as one of
growth only if it grows all the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from tb_slowdown_plugin.analysis.stats.buckets import (
    Samples,
)
from tb_slowdown_plugin.analysis.stats.time_trend import goes_on_growing
from tb_slowdown_plugin.analysis.types import Diagnosis, Finding
from tb_slowdown_plugin.catalog.parameters.causes import LEAST_CORRELATION
from tb_slowdown_plugin.catalog.parameters.shared import STANDS_OUT, TELLING
from tb_slowdown_plugin.records.types import Float, Int

_BLOCKS: Final = 128
_NARROWEST: Final = 4
"""Rows of a block at least."""
_FEWEST_BLOCKS: Final = 17


@dataclass(frozen=True, slots=True)
class Companion:
    """A signal that moved with a finding."""

    signal: str
    how: Literal["jumps_together", "grows_together"]
    correlation: float
    before: float
    after: float
    """Its value at the beginning and at the end of growth, or its median before a jump and
    from there on; of a count a second."""


def find_companions(
    finding: Finding,
    diagnosis: Diagnosis,
    signals: Mapping[str, Samples],
    cumulative: frozenset[str] = frozenset(),
) -> tuple[Companion, ...]:
    """Finds the signals that moved together with a finding.

    Args:
      finding: A level shift or a drift; other patterns have no companions.
      diagnosis: The diagnosis it belongs to.
      signals: Name -> its samples.
      cumulative: Names of signals that count up. Of these the rate matters, and that by
        the second: whatever goes on at an even pace does more in a longer step.

    Returns:
      The companions, the most alike first.
    """
    if finding.pattern not in ("level_shift", "drift"):
        return ()
    start = diagnosis.warm_up_rows
    count = len(finding.lost_per_step) - start
    width = max(_NARROWEST, -(-count // _BLOCKS))
    blocks = count // width
    if blocks < _FEWEST_BLOCKS:
        return ()
    edges = start + np.arange(blocks + 1) * width
    lost = _means(finding.lost_per_step[start:], blocks, width)
    lasts = _seconds_of(diagnosis, start, blocks, width) if cumulative else None
    found = []
    for name, samples in signals.items():
        series = _sample(samples, edges, lasts if name in cumulative else None)
        if series is None or np.ptp(series) <= TELLING * np.abs(series).max():
            continue
        likeness = float(np.corrcoef(lost, series)[0, 1])
        if not likeness > LEAST_CORRELATION:
            continue
        onset = (finding.rows[0] - start) // width
        end = min((finding.rows[1] - start) // width, blocks - 1)
        inside = series[onset : end + 1]
        if finding.pattern == "drift":
            if goes_on_growing(inside):
                ends = float(inside[0]), float(inside[-1])
                found.append(Companion(name, "grows_together", likeness, *ends))
        elif _jumps_at(series, onset):
            sides = float(np.median(series[:onset])), float(np.median(inside))
            found.append(Companion(name, "jumps_together", likeness, *sides))
    return tuple(sorted(found, key=lambda each: -each.correlation))


def _means(values: Float, blocks: int, width: int) -> Float:
    return np.asarray(values[: blocks * width].reshape(blocks, width).mean(axis=1))


def _seconds_of(diagnosis: Diagnosis, start: int, blocks: int, width: int) -> Float:
    """(B,) seconds of the steps of each block: healthy, unexplained and lost ones."""
    parts = [diagnosis.healthy_per_step, diagnosis.unexplained_per_step]
    parts += [finding.lost_per_step for finding in diagnosis.findings]
    means = [_means(part[start:], blocks, width) for part in parts]
    return np.asarray(width * np.sum(means, axis=0))


def _sample(samples: Samples, edges: Int, lasts: Float | None) -> Float | None:
    """A signal in blocks, interpolated between its samples; None with too few of them.

    Args:
      samples: Of the signal.
      edges: (B + 1,) rows between which the blocks lie.
      lasts: (B,) seconds of each block, of a signal that counts up; else None.
    """
    rows, values = samples.rows, samples.values
    if len(rows) < _FEWEST_BLOCKS:
        return None
    if lasts is None:
        return np.asarray(np.interp((edges[:-1] + edges[1:]) / 2, rows, values))
    # A sample stands in the last row that it has seen.
    counted = np.diff(np.interp(edges, rows + 1, values))
    seen = np.flatnonzero((edges[:-1] > rows[0]) & (edges[1:] <= rows[-1] + 1) & (lasts > 0))
    if len(seen) < _FEWEST_BLOCKS:
        return None
    rates = np.maximum(counted[seen], 0.0) / lasts[seen]  # below 0 where a process began anew
    return np.asarray(np.interp(np.arange(len(lasts)), seen, rates))


def _jumps_at(series: Float, onset: int) -> bool:
    reach = max(3, len(series) // 40)
    if not reach <= onset <= len(series) - reach:
        return False
    windows = np.lib.stride_tricks.sliding_window_view(series, reach)
    medians = np.median(windows, axis=1)
    jumps = np.abs(medians[reach:] - medians[:-reach])
    # jumps[k] is the difference at block k + reach.
    near = np.abs(np.arange(len(jumps)) + reach - onset) <= 2
    far = np.abs(np.arange(len(jumps)) + reach - onset) > 2 * reach
    if not near.any() or not far.any():
        return False
    return bool(jumps[near].max() > STANDS_OUT * np.quantile(jumps[far], 0.95))
