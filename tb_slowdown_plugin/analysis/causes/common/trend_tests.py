"""Whether a signal, or a column of the steps, grows with the run, and how fast."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tb_slowdown_plugin.analysis.causes.common.context import Case, Mask
from tb_slowdown_plugin.analysis.stats.quantiles import median
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.types import Finding, zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.accounts import WAITING, rule_of
from tb_slowdown_plugin.catalog.parameters.shared import LARGER, SEVERAL
from tb_slowdown_plugin.records.types import Float, Int


@dataclass(frozen=True, slots=True)
class SignalGrowth:
    """How a signal rises over a stretch of the run."""

    first: float
    """Median of the first third of the samples; of a count, the first sample."""
    last: float
    first_row: int
    last_row: int
    steady: bool
    """Whether it rises for the most part, beyond chance."""
    each_time: bool
    """Whether it rises from each sample to the next: of a few samples no more can be told."""
    one_rise: bool
    """Whether one single rise follows the values closer than a line does."""

    @property
    def rise(self) -> float:
        """From first to last."""
        return self.last - self.first

    @property
    def per_step(self) -> float:
        """Units a step."""
        return self.rise / max(1, self.last_row - self.first_row)


def growth_of(
    case: Case, signal: str, rows: tuple[int, int], *, count: bool = False
) -> SignalGrowth | None:
    """How a signal rises in rows `rows` (inclusive); None without two samples there.

    Args:
      case: the run.
      signal: name of the signal.
      rows: first and last row.
      count: it only counts up, so its first and last sample are exact; else the
        medians of the first and the last third stand for them.
    """
    where, values = case.signal(signal)
    inside = (where >= rows[0]) & (where <= rows[1] + 1)
    where, values = where[inside], values[inside]
    # Samples between the same two steps can't rise with the steps.
    distinct = np.append(np.diff(where) > 0, True) if len(where) else np.empty(0, bool)
    where, values = where[distinct], values[distinct]
    if len(values) < 2:
        return None
    part = 1 if count else max(1, len(values) // 3)
    return SignalGrowth(
        float(np.median(values[:part])),
        float(np.median(values[-part:])),
        int(np.median(where[:part])),
        int(np.median(where[-part:])),
        grows(values),
        len(values) > 1 + SEVERAL and bool(np.all(np.diff(values) > 0)),  # 1 in 120 by chance
        is_one_rise(where, values),
    )


def measured_work(case: Case) -> Float:
    """(S,) seconds of the training thread's work that have an account: callbacks, tracing."""
    total = np.zeros(len(case.run.steps))
    for name, seconds in case.run.steps.accounts.items():
        if rule_of(name).class_ != "part" and names.family(name) not in WAITING:
            total += zero_where_unknown(seconds)
    return total


def counted_per_second(case: Case, signal: str, first: int, last: int) -> float | None:
    """What a count rose by in rows, over their wall time; None where not sampled."""
    rows, counted = case.signal(signal)
    inside = (rows >= first) & (rows <= last + 1)
    rows, counted = rows[inside], counted[inside]
    if len(rows) < 2 or rows[-1] <= rows[0]:
        return None
    seconds = float(case.run.steps.period_seconds[rows[0] : rows[-1]].sum())
    return float(counted[-1] - counted[0]) / seconds if seconds > 0 else None


def is_one_rise(where: Int, values: Float) -> bool:
    """Whether one single rise follows a series clearly closer than a line, by least squares.

    Args:
      where: (N,) rows of the samples, ascending.
      values: (N,) the samples.

    Example:
      >>> import numpy as np
      >>> rows = np.arange(8)
      >>> is_one_rise(rows, np.repeat([1.0, 5.0], 4)), is_one_rise(rows, 1.0 + rows)
      (True, False)
      >>> is_one_rise(rows, np.repeat([1.0, 5.0, 9.0, 13.0], 2))
      False
    """
    if len(values) < 3:
        return True
    around = values - values.mean()
    rows = where - where.mean()
    by_line = np.dot(rows, around) ** 2 / np.dot(rows, rows)
    before = np.arange(1, len(values))
    by_rise = np.cumsum(around)[:-1] ** 2 * (1 / before + 1 / (len(values) - before))
    return bool(by_rise.max() >= LARGER * by_line)


def levels_around(case: Case, jump: Finding, series: Float) -> tuple[float, float]:
    """Median of a series before a jump, and from there on; NaN where unknown."""
    first, last = jump.rows
    start = case.diagnosis.warm_up_rows
    return median_of_known(series[start:first]), median_of_known(series[first : last + 1])


def ends(series: Float, rows: tuple[int, int]) -> tuple[float, float]:
    """Typical value in the first and in the last tenth of rows (inclusive); NaN where unknown."""
    inside = series[rows[0] : rows[1] + 1]
    tenth = max(1, len(inside) // 10)
    return typical_of_known(inside[:tenth]), typical_of_known(inside[-tenth:])


def typical_of_known(values: Float) -> float:
    """The median of the means of up to seven stretches; NaN where nothing was measured.

    Of steps that are long and short in turn the median alone is one of the two, at random; the mean
    alone is that of one stall.

    Example:
      >>> import numpy as np
      >>> typical_of_known(np.tile([1.0, 5.0], 30)), typical_of_known(np.array([1.0, 9.0, np.nan]))
      (3.0, 5.0)
      >>> typical_of_known(np.where(np.arange(60) == 7, 100.0, 1.0))
      1.0
    """
    known = values[~np.isnan(values)]
    if not len(known):
        return float("nan")
    return float(np.median([part.mean() for part in np.array_split(known, min(len(known), 7))]))


def median_of_known(values: Float) -> float:
    """The median without what was not measured; NaN where nothing was.

    Example:
      >>> import numpy as np
      >>> median_of_known(np.array([1.0, np.nan, 3.0])), median_of_known(np.array([np.nan]))
      (2.0, nan)
    """
    known = values[~np.isnan(values)]
    return median(known) if len(known) else float("nan")


def inside_and_rest(case: Case, finding: Finding) -> tuple[Mask, Mask]:
    """(S,) the rows of a finding, and all others after the warm-up."""
    slow = np.zeros(len(case.run.steps), bool)
    slow[finding.rows[0] : finding.rows[1] + 1] = True
    rest = ~slow
    rest[: case.diagnosis.warm_up_rows] = False
    return slow, rest


def medians_of(series: Float, rest: Mask, slow: Mask) -> tuple[float, float]:
    """The medians of the known values, elsewhere and inside."""
    return median_of_known(series[rest]), median_of_known(series[slow])
