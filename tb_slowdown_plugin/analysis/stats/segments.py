"""Pieces joined to parts: between two parts the level jumps, inside of one it does not.

At a real change the level differs right beside the cut as much as on average;
in growth that was cut into a staircase it hardly does.

The row of a jump is found by the likelihood of the run's own noise. The best cut into two means
needs (noise / jump) squared rows to settle: where two sorts of steps are mixed, their difference
counts as noise, and a smaller jump is placed anywhere. But each sort is narrow, and both jump. So
the density of the noise is estimated from the run (a histogram, smoothed), and the row is the one
before which the values are likelier at the old level and after which at the new one. Outliers are
unlikely on both sides alike, and decide nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.stats.change_points import Piece, Segmentation
from tb_slowdown_plugin.analysis.stats.growth_curve import fit_curve
from tb_slowdown_plugin.catalog.parameters.shared import MAJORITY, MATTERS
from tb_slowdown_plugin.catalog.parameters.stats import MEANS_SIGNIFICANCE, SMALLEST_CHANGE
from tb_slowdown_plugin.records.types import Float

_CERTAIN: Final = 128.0
"""A step is looked at over so many (noise / step) squared buckets: half of it is then four
standard errors."""

_BINS: Final = 1024

_CORE: Final = 0.25
"""Share of the noise whose narrowest interval gives the scale: that of the narrowest sort of
steps, not of the distance between them."""

_CORE_SIGMAS: Final = 0.637
"""Width of that interval for normal noise, in standard deviations."""

_SILVERMAN: Final = 0.9
"""Bandwidth of the smoothing is this x scale x count^(-1/5) (Silverman 1986, 3.31)."""

_TAILS: Final = 0.005

_LEAST_DENSITY: Final = 1e-3
"""Of the highest density; what was never seen is not impossible."""


@dataclass(slots=True)
class Part:
    """Consecutive pieces without a jump between them."""

    first: int
    end: int
    grows: bool


def confirm(pieces: list[Piece], means: Float) -> list[Piece]:
    """Joins pieces whose means do not differ as their medians do.

    The median of a bucket leaps where two sorts of steps are mixed about half and
    half; the mean does not.
    """
    pieces = list(pieces)
    while len(pieces) > 1:
        support = [_support(left, right, means) for left, right in pairwise(pieces)]
        doubtful = [at for at, each in enumerate(support) if each < 1]
        if not doubtful:
            break
        weakest = min(doubtful, key=lambda at: abs(pieces[at + 1].mean - pieces[at].mean))
        left, right = pieces[weakest], pieces[weakest + 1]
        mean = (left.mean * left.length + right.mean * right.length) / (right.end - left.first)
        pieces[weakest : weakest + 2] = [Piece(left.first, right.end, mean, 0.0)]
    return pieces


def _support(left: Piece, right: Piece, means: Float) -> float:
    """Below 1 where the means of two pieces do not bear out the step between them."""
    if left.slope or right.slope:
        return 1.0
    before, after = means[left.first : left.end], means[right.first : right.end]
    error = np.sqrt(before.var() / left.length + after.var() / right.length)
    step = right.mean - left.mean
    difference = float(after.mean() - before.mean()) * np.sign(step)
    size = difference / (MAJORITY * abs(step))
    return float(min(size, difference / max(float(error), 1e-9) / MEANS_SIGNIFICANCE))


def join(cut: Segmentation, pieces: list[Piece]) -> list[Part]:
    """Pieces joined where the level does not jump.

    Beside the cut the level is taken over as many buckets as noise demands, but
    at most a third of a piece: the steps of a staircase that is really a slope
    rise by a third of a step there.
    """
    values = cut.cleaned
    parts = [Part(pieces[0].first, pieces[0].end, bool(pieces[0].slope))]
    for left, right in pairwise(pieces):
        step = right.mean - left.mean
        wanted = _CERTAIN * cut.variance / max(step**2, 1e-12)
        most = min(left.length, right.length) // 3
        reach = int(np.clip(wanted, 3, max(3, most)))
        # The cut may be a bucket off, and the bucket of the jump is neither here nor there.
        aside = 1 if most > reach else 0
        after = values[right.first + aside : right.first + aside + reach]
        before = values[left.end - aside - reach : left.end - aside]
        local = float(np.median(after) - np.median(before))
        if abs(local) >= MAJORITY * abs(step) and local * step > 0:
            parts.append(Part(right.first, right.end, bool(right.slope)))
        else:
            parts[-1].end, parts[-1].grows = right.end, True
    return parts


def is_seam(level: Float, left: Part, right: Part) -> bool:
    """Whether the jump between two parts is small beside the growth on one of its sides."""
    jump = abs(float(level[right.first] - level[left.end - 1]))
    growth = max(
        abs(float(level[part.end - 1] - level[part.first])) if part.grows else 0.0
        for part in (left, right)
    )
    return growth > 0 and jump < max(np.log1p(SMALLEST_CHANGE), MATTERS * growth)


def is_curve(cut: Segmentation, level: Float, left: Part, right: Part) -> bool:
    """Whether one curve of growth fits two parts better than a jump between them does."""
    values = cut.cleaned[left.first : right.end]
    curve = fit_curve(values, cut.variance)
    if curve is None:
        return False
    more = 3 * (left.grows + right.grows)
    spared = more * cut.variance * np.log(len(cut.cleaned))
    squares = float(np.sum((values - level[left.first : right.end]) ** 2))
    return bool(np.sum((values - curve) ** 2) < squares + spared)


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
    return Density(lowest, width, np.log(smooth + _LEAST_DENSITY * smooth.max()))


def place_jump(values: Float, before: float, after: float, density: Density) -> int:
    """The first row of `values` (N,) that is at the level after the jump: 0 to N."""
    likelier = density.log_likelihood(values - before) - density.log_likelihood(values - after)
    return int(np.argmax(np.concatenate([[0.0], np.cumsum(likelier)])))
