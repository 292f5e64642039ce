"""Steps that do different work, told apart by what they ran: they are not compared with each other.

A user may declare `kind` and `items`; what is declared wins. Where nothing is, the functions that
a step ran, and how often, say it: an episode that calls its policy more often, learning that
begins when a buffer is full, an eager loop before a graph. All of it is the program's own plan.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.catalog.events import OPEN_LOOP, STEP_FUNCTION
from tb_slowdown_plugin.catalog.parameters.prepare import BUILDING_STEPS, FEWEST_OF_A_KIND
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MATTERS,
    NEARLY_ALL,
    NEGLIGIBLE,
    SERIES,
    START_SHARE,
)
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float, Int

EAGER_GRADIENTS: Final = 1
"""`StepTable.ran` of a step that ran no function and computed gradients."""

_NEAR: Final = SERIES
"""Steps that follow each other, whose times are compared."""

FAST_AND_SLOW: Final = (MATTERS, 1 - MATTERS)
"""Quantiles of the times in a block, so that neither one stall nor one short step counts."""

GRADIENTS: Final = "gradients outside of a function"
"""What bit 0 of `StepTable.ran` stands for."""


@dataclass(frozen=True, slots=True)
class StepKinds:
    """How steps may be compared."""

    kind: Int
    """(S,) equal for steps that may be compared with each other."""
    items: Float
    """(S,) amount of work in a step, NaN where not known. Of each kind by a measure of its own."""
    are_found: bool
    """Whether steps differ in what they ran, not in what the user declared."""
    by_calls: NDArray[np.bool_]
    """(S,) where `items` are calls."""
    by_numbers: NDArray[np.bool_]
    """(S,) where `items` are the numbers in what the functions were given."""


def find_kinds(run: Run) -> StepKinds:
    """How the steps of a run may be compared.

    Args:
      run: May be of a writer that did not see what steps run: then only declared kinds count.
    """
    steps = run.steps
    by_calls, by_numbers = (np.zeros(len(steps), np.bool_) for _ in range(2))
    is_declared = bool(steps.kind.any())
    told = bool(np.all(steps.items > 0))
    seen = steps.ran > 0
    if not seen.any() or run.steps_per_row > 1:
        return StepKinds(steps.kind, steps.items, False, by_calls, by_numbers)
    kind, are_found = steps.kind, False
    if not is_declared and (steps.ran != steps.ran[0]).any():
        kind = _join_rare(steps.ran)
        are_found = bool((kind != kind[0]).any())
    if told and (steps.items != steps.items[0]).any():
        return StepKinds(kind, steps.items, are_found, by_calls, by_numbers)
    items = steps.items.astype(float)
    for each in np.unique(kind):
        rows = kind == each
        size = steps.argument_size[rows]
        # The same number in each step, such as that of a batch, tells nothing of its sequences.
        if not told and _vary(steps.calls[rows]):
            items[rows] = np.maximum(steps.calls[rows], 1)
            by_calls |= rows
        elif _vary(size) and not _piles_up(size):
            items[rows] = np.where(size > 0, size, np.nan)
            by_numbers |= rows
    if not is_declared and not (by_calls | by_numbers).any():
        kind = _set_apart(kind, steps.calls)
    return StepKinds(kind, items, are_found, by_calls, by_numbers)


def _set_apart(kind: Int, calls: Int) -> Int:
    """(S,) the kinds, with the few steps that call their functions far more often as others.

    Such as every 300th, after which a policy is tried: too few for their time to follow from calls.
    """
    if calls.max(initial=0) <= FAR_BEYOND:
        return kind
    apart: Int = kind.copy()
    for each in np.unique(kind).tolist():
        rows = np.flatnonzero(kind == each)
        usual = float(np.median(calls[rows]))
        more = rows[calls[rows] > FAR_BEYOND * max(usual, 1.0)]
        apart[more] = each + 1 + int(kind.max())
    return apart


def _join_rare(ran: Int) -> Int:
    """(S,) the kinds of steps, by what they ran.

    A few steps that ran nothing but what most steps run, or the very first ones, are of the most
    common kind: the first does no less than the others, and to do less takes no longer.
    """
    functions, kind, counts = np.unique(ran, return_inverse=True, return_counts=True)
    kind = kind.astype(np.int64)
    common = int(np.argmax(counts))
    few = max(FEWEST_OF_A_KIND, NEGLIGIBLE * len(ran))
    for rare in np.flatnonzero(counts < few).tolist():
        rows = np.flatnonzero(kind == rare)
        does_less = not functions[rare] & ~functions[common]
        if does_less or rows[-1] < max(BUILDING_STEPS, START_SHARE * len(ran)):
            kind[rows] = common
    return kind


def _vary(amounts: Int) -> bool:
    """Whether they are more in some steps than in others, as a rule."""
    few, many = np.quantile(amounts, (NEGLIGIBLE, 1 - NEGLIGIBLE), method="nearest")
    return bool(few < many)


def _piles_up(size: Int) -> bool:
    """Whether what functions get is never less and nearly always more: the program keeps it all."""
    more = np.diff(size)
    return len(more) > 0 and bool(
        np.mean(more > 0) >= NEARLY_ALL and np.mean(more < 0) <= NEGLIGIBLE
    )


def name_functions(run: Run) -> Mapping[int, str]:
    """Bit of `StepTable.ran` -> the function, without its place."""
    told = {
        round(fact.numbers.get("bit", 0)): fact.subject.partition(" (")[0]
        for _, fact in run.facts(STEP_FUNCTION)
    }
    return {0: GRADIENTS, **told}


def functions_of(ran: int, named: Mapping[int, str]) -> list[str]:
    """The functions of a step, by the bits of `ran`.

    Example:
      >>> functions_of(0b110, {0: "gradients", 1: "act", 2: "learn"})
      ['act', 'learn']
    """
    bits = (bit for bit in range(ran.bit_length()) if ran >> bit & 1)
    return list(dict.fromkeys(named.get(bit, "other functions") for bit in bits))


def run_graphs(run: Run) -> bool:
    """Whether nearly all steps run functions, and compute no gradients outside of them."""
    ran = run.steps.ran
    return len(ran) > 0 and bool(np.mean((ran > 0) & (ran & EAGER_GRADIENTS == 0)) >= NEARLY_ALL)


def usual_functions(ran: Int) -> int:
    """The bits that most of these steps have.

    Example:
      >>> usual_functions(np.array([0b10, 0b110, 0b110]))
      6
    """
    sets, counts = np.unique(ran, return_counts=True)
    return int(sets[np.argmax(counts)])


def are_uneven(run: Run, start: int) -> bool:
    """Whether the work of steps can't be counted, and near ones differ as episodes do.

    Args:
      run: the recording. With declared kinds or items it is not.
      start: the first row that is not warm-up.
    """
    steps = run.steps
    told = bool(np.all(steps.items > 0)) or bool(steps.kind.any())
    if told or not len(steps.ran):
        return False
    if looping_functions(run):
        computed = (steps.process_cpu_seconds - steps.thread_cpu_seconds)[start:]
        # Episodes that have become as long as they may be differ no more.
        return _spread(computed[np.isfinite(computed)], 1 - MATTERS) >= 1 + MATTERS
    if steps.calls.any():
        return False
    if np.mean(steps.ran == EAGER_GRADIENTS) < NEARLY_ALL:
        return False
    # By what the thread computes: other processes make the time of any step uneven.
    computed = steps.thread_cpu_seconds[start:]
    return _spread(computed[np.isfinite(computed)], MAJORITY) >= 1 + MATTERS


def looping_functions(run: Run) -> list[str]:
    """The functions with loops of as many turns as their data say."""
    return list(dict.fromkeys(fact.subject for _, fact in run.facts(OPEN_LOOP)))


def _spread(seconds: Float, quantile: float) -> float:
    """How many times as much slow steps take as fast ones near them, in so many of the places."""
    count = len(seconds) // _NEAR
    if not count:
        return 1.0
    blocks = seconds[: count * _NEAR].reshape(count, _NEAR)
    fast, slow = np.quantile(blocks, FAST_AND_SLOW, axis=1)
    known = fast > 0
    return float(np.quantile(slow[known] / fast[known], quantile)) if known.any() else 1.0
