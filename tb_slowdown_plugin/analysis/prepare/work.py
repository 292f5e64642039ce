"""How much work each step has to do, so that more work is not called a slowdown.

Steps of different kinds are never compared with each other, and with `items`
a step is compared with steps of as many items.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.typing import ArrayLike, NDArray

from tb_slowdown_plugin.analysis.prepare.steps import as_column
from tb_slowdown_plugin.catalog.parameters.prepare import FEWEST_OF_A_KIND
from tb_slowdown_plugin.catalog.parameters.shared import (
    ALIKE,
    MAJORITY,
    MATTERS,
    NEARLY_ALL,
    SEVERAL,
)
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.records.types import Float, Int

_GROUPS: Final = 16
"""Groups of steps with about equally many items, of each of which the median is taken."""
_LOOKED_AT: Final = 1_000
"""Steps in which many different sizes show."""
_POWERS: Final = np.arange(4)
"""Of the items, by which time may grow."""


class Work(NamedTuple):
    """How steps are compared."""

    usual: Float
    """(S,) as by `measure_work`."""
    leading: NDArray[np.bool_] | None
    """(S,) as by `find_leading`."""
    few: tuple[NDArray[np.bool_], ...] = ()
    """(S,) each, as by `find_few`."""


def compare_work(core: Float, start: int, kinds: ArrayLike | None, items: ArrayLike | None) -> Work:
    """What steps usually take, and which few of them take most of the time; as `measure_work`."""
    usual = measure_work(core, start, kinds, items)
    return Work(usual, find_leading(core, start, kinds), find_few(core, start, kinds))


def measure_work(
    core: Float, start: int, kinds: ArrayLike | None, items: ArrayLike | None
) -> Float:
    """The time that each step would take if it did not get slower.

    Args:
      core: (S,) seconds of each step.
      start: The first row that is not warm-up.
      kinds: (S,) kind of each step: numbers or names.
      items: (S,) examples, rows or tokens; NaN where not told. A step without them counts as
        the median one, where nearly all steps have them.

    Returns:
      (S,) seconds, positive; NaN for steps of a kind with too few steps. In a run of one
      kind and no items, the same number everywhere, in a read-only array.

    Raises:
      UsageError: An array is not of shape (S,).
    """
    kind = _number_kinds(kinds, len(core))
    amount = None if items is None else as_column("items", items, len(core))
    if not kind.any() and (amount is None or not _is_told(amount)):
        typical = float(np.median(core[start:])) if len(core) > start else np.nan
        return np.broadcast_to(typical if typical > 0 else np.nan, core.shape)
    usual = np.full(len(core), np.nan)
    plain: list[int] = []
    """Kinds without items."""
    for each in range(int(kind.max(initial=0)) + 1):
        rows = np.flatnonzero(kind == each)
        steady = rows[rows >= start]
        if len(steady) < FEWEST_OF_A_KIND and kind.any():
            continue
        seconds = core[steady]
        fitted = steady if amount is None else steady[_are_amounts(amount[steady])]
        if amount is not None and len(fitted) and _is_told(amount[rows]):
            wanted = np.where(_are_amounts(amount[rows]), amount[rows], np.median(amount[fitted]))
            usual[rows] = _fit_items(amount[fitted], core[fitted], wanted)
        else:
            typical = np.median(seconds, overwrite_input=True) if len(seconds) else np.nan
            usual[rows] = typical
            plain += [each] * bool(typical > 0)
    usual[~(usual > 0)] = np.nan
    return _compare_beside(core, start, kind, plain, usual)


def _compare_beside(core: Float, start: int, kind: Int, plain: list[int], usual: Float) -> Float:
    """(S,) the usual times of steps, those of each kind next to those of others around them.

    Where all steps get slower, a kind that becomes rare has its median from the first ones, and
    one that becomes frequent from the last.

    Args:
      core: (S,) seconds.
      start: The first row that is not warm-up.
      kind: (S,) numbers.
      plain: The kinds to compare.
      usual: (S,) the median of each kind.
    """
    blocks = np.array_split(np.arange(start, len(core)), _GROUPS)
    first = max(plain, key=lambda each: np.count_nonzero(kind == each), default=None)
    if len(plain) < 2 or first is None:
        return usual
    medians = {
        each: np.array([_median_of(core[rows[kind[rows] == each]]) for rows in blocks])
        for each in plain
    }
    typical = {first: float(usual[np.argmax(kind == first)])}
    others = set(plain) - {first}
    while others:
        level = _median_of_known([medians[each] / typical[each] for each in typical])
        beside = {each: medians[each] / level for each in others}
        closest = max(others, key=lambda each: np.count_nonzero(np.isfinite(beside[each])))
        times = beside[closest][np.isfinite(beside[closest])]
        if len(times) < SEVERAL:
            break
        typical[closest] = float(np.median(times))
        usual[kind == closest] = typical[closest]
        others.remove(closest)
    return usual


def _median_of(seconds: Float) -> float:
    """NaN of too few, and where they take no time."""
    median = float(np.median(seconds)) if len(seconds) >= SEVERAL else np.nan
    return median if median > 0 else np.nan


def _median_of_known(columns: list[Float]) -> Float:
    """(B,) of each block; NaN where none of (B,) columns knows it."""
    table = np.array(columns)
    known = np.isfinite(table).any(axis=0)
    level = np.full(table.shape[1], np.nan)
    level[known] = np.nanmedian(table[:, known], axis=0)
    return level


def find_leading(core: Float, start: int, kinds: ArrayLike | None) -> NDArray[np.bool_] | None:
    """(S,) the steps of the kind that takes most of the time, where they are few; None elsewhere.

    Such as the learning of an agent after every tenth move. The median of ten steps is a move's.

    Example:
      >>> find_leading(np.array([1.0, 1.0, 9.0, 1.0]), 0, ["act", "act", "learn", "act"]).tolist()
      [False, False, True, False]
      >>> find_leading(np.array([5.0, 1.0, 9.0, 1.0]), 0, None)
    """
    kind = _number_kinds(kinds, len(core))
    if not kind.any():
        return None
    seconds = np.bincount(kind[start:], core[start:])
    first = int(np.argmax(seconds))
    leading = np.asarray(kind == first)
    takes_most = seconds[first] > MAJORITY * seconds.sum()
    return leading if takes_most and np.mean(leading[start:]) < MAJORITY else None


def find_few(core: Float, start: int, kinds: ArrayLike | None) -> tuple[NDArray[np.bool_], ...]:
    """(S,) each, the steps of kinds that take a good part of the time, and are few.

    What happens to these alone isn't seen in the medians of all steps.

    Example:
      >>> found = find_few(np.array([2.0, 2.0, 3.0, 2.0]), 0, ["act", "act", "learn", "act"])
      >>> [each.tolist() for each in found]
      [[False, False, True, False]]
      >>> find_few(np.array([5.0, 1.0, 9.0, 1.0]), 0, None)
      ()
    """
    kind = _number_kinds(kinds, len(core))
    if not kind.any():
        return ()
    seconds = np.bincount(kind[start:], core[start:])
    counts = np.bincount(kind[start:], minlength=len(seconds))
    takes_much = seconds >= MATTERS * seconds.sum()
    found = np.flatnonzero(takes_much & (counts < MAJORITY * counts.sum()))
    return tuple(np.asarray(kind == each) for each in found)


def find_seen_only_inside(
    inside: NDArray[np.bool_], start: int, kinds: ArrayLike | None
) -> NDArray[np.bool_] | None:
    """(S,) steps of kinds of which too few lie outside of some rows; None where there are none.

    At another level than elsewhere such a kind may be or not: it has been nowhere else.

    Args:
      inside: (S,) the rows.
      start: The first row that is not warm-up.
      kinds: (S,) as for `measure_work`.

    Example:
      >>> inside = np.arange(40) >= 15
      >>> kinds = np.where(np.arange(40) < 30, "small", "large")
      >>> np.flatnonzero(find_seen_only_inside(inside, 0, kinds))[[0, -1]].tolist()
      [30, 39]
    """
    kind = _number_kinds(kinds, len(inside))
    if not kind.any():
        return None
    steady = np.arange(len(inside)) >= start
    outside = np.bincount(kind[steady & ~inside], minlength=int(kind.max()) + 1)
    found = (outside < FEWEST_OF_A_KIND)[kind]
    return np.asarray(found) if found.any() else None


def _is_told(amount: Float) -> bool:
    """Whether it is known of nearly all steps: a very first one may lack what tells it."""
    return bool(np.mean(_are_amounts(amount)) >= NEARLY_ALL)


def _are_amounts(amount: Float) -> NDArray[np.bool_]:
    return (amount > 0) & np.isfinite(amount)


def _number_kinds(kinds: ArrayLike | None, count: int) -> Int:
    if kinds is None:
        return np.zeros(count, np.int64)
    array = np.asarray(kinds)
    if array.shape != (count,):
        raise UsageError(
            f"kinds has shape {array.shape}, step_seconds ({count},); give one for each step"
        )
    if count and (array == array[0]).all():  # what is usual; sorting ten million takes 0.5 s
        return np.zeros(count, np.int64)
    return np.unique(array, return_inverse=True)[1].astype(np.int64)


def _fit_items(amount: Float, seconds: Float, wanted: Float) -> Float:
    """The usual seconds of steps with `wanted` items: a sum of powers of the items, up to the cube.

    Fitted on the medians of groups of like steps, with no factor below zero, so that time never
    falls with the items, and grows at most as that of an algorithm of linear algebra does: to
    factor a matrix of n rows takes n cubed. Where there are few sizes, each may lie a quarter
    beside that.
    """
    order = np.argsort(amount, kind="stable")
    groups = [part for part in np.array_split(order, _GROUPS) if len(part)]
    size = np.array([np.median(amount[part]) for part in groups])
    typical = np.array([np.median(seconds[part]) for part in groups])
    if size[-1] < (1 + ALIKE) * size[0] or not np.all(typical > 0):
        return np.full(len(wanted), np.median(seconds))
    unit = size[-1]
    weighted = (size / unit)[:, None] ** _POWERS / typical[:, None]
    best, coefficients = np.inf, np.median(typical) * (_POWERS == 0)
    for used in product([False, True], repeat=len(_POWERS)):
        if not any(used):
            continue
        mask = np.array(used)
        solution = np.linalg.lstsq(weighted[:, mask], np.ones(len(size)), rcond=None)[0]
        error = float(np.sum((weighted[:, mask] @ solution - 1) ** 2))
        if solution.min() >= 0 and error < best:
            best, coefficients = error, np.zeros(len(_POWERS))
            coefficients[mask] = solution
    usual = np.asarray(polyval(wanted / unit, coefficients))  # no matrix: a run may be long
    beside = _measure_beside(amount, seconds, lambda size: polyval(size / unit, coefficients))
    return usual if beside is None else usual * np.interp(wanted, *beside)


def _measure_beside(
    amount: Float, seconds: Float, curve: Callable[[Float], Float]
) -> tuple[Float, Float] | None:
    """Sizes, and how many times as long as on the curve their steps take; None for many sizes.

    The same computing fits caches and blocks of a processor at one size better than at another:
    a solver took 2.5, 3.9, 4.1, 6.5 and 8.5 ms with 1,000, 1,400, and up to 2,600 points.
    """
    if len(np.unique(amount[:: max(1, len(amount) // _LOOKED_AT)])) > _GROUPS:
        return None
    sizes, place, counts = np.unique(amount, return_inverse=True, return_counts=True)
    held = np.flatnonzero(counts >= FEWEST_OF_A_KIND)
    if not len(held):
        return None
    typical = np.array([np.median(seconds[place == each]) for each in held])
    times = np.clip(typical / curve(sizes[held]), 1 - MATTERS, 1 + MATTERS)
    return sizes[held], times
