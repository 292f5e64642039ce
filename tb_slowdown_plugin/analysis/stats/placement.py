"""The row at which a level jumps, found by the likelihood of the run's own noise.

The best cut into two means needs (noise / jump) squared rows to settle: where two
sorts of steps are mixed, their difference counts as noise, and a smaller jump is
placed anywhere. But each sort is narrow, and both jump. So the density of the noise
is estimated from the run (a histogram, smoothed), and the row is the one before which
the values are likelier at the old level and after which at the new one. Outliers are
unlikely on both sides alike, and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tb_slowdown_plugin.records.types import Float

_BINS: Final = 1024
_CORE: Final = 0.25
"""Share of the noise whose narrowest interval gives the scale: that of the narrowest sort of
steps, not of the distance between them."""
_CORE_SIGMAS: Final = 0.637
"""Width of that interval for normal noise, in standard deviations."""
_SILVERMAN: Final = 0.9
"""Bandwidth of the smoothing is this x scale x count^(-1/5) (Silverman 1986, 3.31)."""
_TAILS: Final = 0.005
_LEAST: Final = 1e-3
"""Of the highest density; what was never seen is not impossible."""


@dataclass(frozen=True, slots=True)
class Density:
    """How likely a deviation from the level is, up to a factor."""

    lowest: float
    """Left edge of the first bin."""
    width: float
    """Of a bin."""
    logs: Float
    """(bins,) logarithm of the density in each."""

    def log_likelihood(self, deviations: Float) -> Float:
        """(N,) of each deviation."""
        position = (deviations - self.lowest) / self.width - 0.5
        return np.asarray(np.interp(position, np.arange(len(self.logs)), self.logs))


def estimate_density(deviations: Float) -> Density:
    """The density of the noise.

    Args:
      deviations: (N,) values less the level that holds there, at least 2 of them; some
        ten thousand are enough.
    """
    sample = np.sort(deviations)
    count = len(sample)
    held = max(2, round(_CORE * count))
    scale = float(np.min(sample[held - 1 :] - sample[: count - held + 1])) / _CORE_SIGMAS
    low, high = np.quantile(sample, (_TAILS, 1 - _TAILS))
    width = max(float(high - low), 1e-9) / (_BINS // 2)
    lowest = float(low) - _BINS // 4 * width
    counts, _ = np.histogram(sample, _BINS, (lowest, lowest + _BINS * width))
    bandwidth = max(_SILVERMAN * scale * count**-0.2 / width, 1.0)
    reach = min(int(4 * bandwidth) + 1, _BINS // 2 - 1)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / bandwidth) ** 2)
    smooth = np.convolve(counts, kernel / kernel.sum(), "same")
    return Density(lowest, width, np.log(smooth + _LEAST * smooth.max()))


def place_jump(values: Float, before: float, after: float, density: Density) -> int:
    """The first row of `values` (N,) that is at the level after the jump: 0 to N."""
    likelier = density.log_likelihood(values - before) - density.log_likelihood(values - after)
    return int(np.argmax(np.concatenate([[0.0], np.cumsum(likelier)])))
