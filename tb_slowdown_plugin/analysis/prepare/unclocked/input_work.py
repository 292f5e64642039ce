"""What a pipeline takes of the cores that the step computes on, though no step waits for it.

A pipeline that works ahead computes while steps do, and where both need the same cores the step
takes longer. No clock sees it. But each pass over the data ends with batches that are made
already: the steps that take them have the cores to themselves, and show what a step takes then.

Against a stopwatch, in two programs whose features were computed on the way, on two cores: 30% of
the run instead of 31%, 51% instead of 54% (`benchmarks/accuracy/tune/programs`: wake_word,
pose_heatmaps).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import KERAS_FIT, NEW_SHAPE
from tb_slowdown_plugin.catalog.parameters.shared import (
    ALIKE,
    LARGER,
    MAJORITY,
    NEGLIGIBLE,
    SERIES,
    SEVERAL,
)
from tb_slowdown_plugin.catalog.parameters.stats import TREND_SIGNIFICANCE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Fact, Float, Int

_SIZES: Final = 2
"""Of batches: all but the last one of a pass are alike."""
_PASSES_ABOUT: Final = 5
"""Whose ends say together what a step takes by itself: one alone has a noise of its own."""
_BATCHES: Final = frozenset({"Batch", "ParallelBatch"})
_UNEVEN: Final = frozenset({"PaddedBatch", "GroupByWindow", "DenseToRagged", "DenseToSparse"})
"""Stages that give batches of different sizes, the last ones of a pass often smaller ones."""


def with_input_work(run: Run, measured: Mapping[str, Float], epochs: Int) -> dict[str, Float]:
    """The accounts, with one for what steps take longer while the pipeline works beside them.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds.
      epochs: Rows at which passes begin.
    """
    core = left_over(run, measured)
    column = np.zeros(len(core))
    for passes in _of_one_work(run, _passes(epochs, len(run.steps))):
        _book(run, core, passes, column)
    return {**measured, names.INPUT_WORK: column} if column.any() else dict(measured)


def _book(run: Run, core: Float, passes: Sequence[slice], column: Float) -> None:
    """Adds to the column what the steps of these passes take longer than those at their ends."""
    within = slice(passes[0].start, passes[-1].stop)
    pipelines = [fact for row, fact in run.facts(names.INPUT_PIPELINE) if row < within.stop]
    is_full = bool(pipelines) and bool(pipelines[-1].numbers.get("full_batches"))
    # The last step, and where its batch may be a smaller one, the step before it.
    ready = 1 if is_full or _has_one_shape(run, passes) else 2
    passes = [each for each in passes if _ends_alike(run, each, ready)]
    if len(passes) < SEVERAL or not _batches_are_alike(run, pipelines, within):
        return
    others = [core[rows][1:-ready] for rows in passes]
    usual = np.array([np.median(each) for each in others])
    alone = np.array([core[rows][-ready] for rows in passes])
    if not np.all(usual > 0) or not _are_shorter(alone, usual, others):
        return
    # A pipeline that makes more and more takes more and more from steps that stay as they are.
    levels = np.minimum(_of_passes_about(alone), usual)
    for rows, level, most in zip(passes, levels, usual, strict=True):
        beside = slice(rows.start, rows.stop - ready)
        column[beside] = np.clip(core[beside] - level, 0.0, most - level)


def _of_passes_about(alone: Float) -> Float:
    """(P,) for each pass the median of those about it, as many for the first as for others."""
    width = min(_PASSES_ABOUT, len(alone))
    medians = np.median(np.lib.stride_tricks.sliding_window_view(alone, width), axis=1)
    first = np.clip(np.arange(len(alone)) - width // 2, 0, len(alone) - width)
    return np.asarray(medians[first])


def _of_one_work(run: Run, passes: Iterable[slice]) -> list[list[slice]]:
    """The passes, all those together in whose steps the same functions run."""
    found: dict[int, list[slice]] = {}
    for rows in passes:
        found.setdefault(int(np.median(run.steps.ran[rows])), []).append(rows)
    return list(found.values())


def _passes(epochs: Int, count: int) -> Iterator[slice]:
    """The rows of whole passes that are long enough; of the last one nobody knows that it ended."""
    edges = np.unique(epochs[(epochs >= 0) & (epochs < count)]).tolist()
    for first, end in pairwise(edges):
        if end - first >= SERIES:
            yield slice(first, end)


def _ends_alike(run: Run, rows: slice, ready: int) -> bool:
    """Whether the step that is compared ran what the others of its pass run, on as much."""
    for column in (run.steps.ran, run.steps.calls, run.steps.argument_size, run.steps.kind):
        part = column[rows]
        if len(part) and not _is_usual(part[-ready], part):
            return False
    items = run.steps.items[rows]
    return bool(np.isnan(items).any()) or _is_usual(items[-ready], items)


def _is_usual(value: float, part: Int | Float) -> bool:
    return bool(abs(value - np.median(part)) <= ALIKE * abs(np.median(part)))


def _is_fit(run: Run) -> bool:
    """Whether Keras trains: its functions get iterators, whose elements are declared, not seen."""
    return bool(run.facts(KERAS_FIT))


def _batches_are_alike(run: Run, pipelines: Sequence[Fact], within: slice) -> bool:
    """Whether all batches of a pass but the last are of one size, as far as the record says."""
    stages = [set(fact.subject.split()) for fact in pipelines]
    if any(_UNEVEN & each for each in stages):
        return False
    are_seen = run.steps.argument_size.any() and not _is_fit(run)
    if are_seen or any(_BATCHES & each for each in stages):
        return True
    known = _shapes_until(run, within.stop)
    return 0 < known <= _SIZES + _shapes_until(run, within.start)


def _has_one_shape(run: Run, passes: Sequence[slice]) -> bool:
    """Whether the first batch of these passes had a new shape, and none within a pass after it.

    A smaller last batch would have brought another. What is new between two passes is validation's.
    """
    starts = {rows.start for rows in passes} | {rows.stop for rows in passes}
    first, end = passes[0].start, passes[-1].stop
    new = [row for row, _ in run.facts(NEW_SHAPE) if first <= row < end]
    return new.count(first) == 1 and starts.issuperset(new)


def _shapes_until(run: Run, end: int) -> float:
    """How many shapes of batches were known before a row; 0 where nobody has counted them."""
    shapes = run.signals.values.get("batch_shapes")
    return 0.0 if shapes is None else float(np.nanmax(shapes[run.signals.row < end], initial=0.0))


def _are_shorter(alone: Float, usual: Float, others: Sequence[Float]) -> bool:
    """Whether the steps at the end of passes are shorter than chance makes any of the others."""
    short = int(np.count_nonzero(LARGER * alone <= usual))
    pairs = zip(others, usual, strict=True)
    chance = float(np.mean(np.concatenate([LARGER * each <= level for each, level in pairs])))
    expected = chance * len(usual)
    errors = (short - expected) / np.sqrt(max(expected * (1 - chance), NEGLIGIBLE))
    return bool(short >= MAJORITY * len(usual) and errors >= TREND_SIGNIFICANCE)
