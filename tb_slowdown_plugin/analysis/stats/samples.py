"""A signal as it is sampled: a value now and then, not one for each of ten million steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tb_slowdown_plugin.records.types import Float, Int


@dataclass(frozen=True, slots=True)
class Samples:
    """Where a signal was measured, and what it was there. `R` is the number of samples.

    Example:
      >>> Samples(np.array([2, 5]), np.array([0.5, 0.75])).at(np.array([0, 5])).tolist()
      [nan, 0.75]
    """

    rows: Int
    """(R,) rows at whose end the samples were taken, ascending and each once."""
    values: Float
    """(R,) without NaN."""

    def at(self, rows: Int) -> Float:
        """(N,) the values in rows (N,), none of which comes twice; NaN where not sampled."""
        found = np.full(len(rows), np.nan)
        _, where, mine = np.intersect1d(rows, self.rows, assume_unique=True, return_indices=True)
        found[where] = self.values[mine]
        return found

    def spread(self, count: int) -> Float:
        """(count,) one value for each row; NaN where not sampled."""
        return self.at(np.arange(count))


Signals: TypeAlias = Mapping[str, ArrayLike | Samples]
"""Name -> (S,) values, NaN where not sampled, or the samples alone."""
