"""What a pipeline takes of the cores that the step computes on, though no step waits for it.

A pipeline that works ahead computes while steps do, and where both need the same cores the step
takes longer. No clock sees it. But each pass over the data ends with batches that are made
already: the steps that take them have the cores to themselves, and show what a step takes then.

Against a stopwatch, in two programs whose features were computed on the way, on two cores: 30% of
the run instead of 31%, 51% instead of 54% (`benchmarks/accuracy/tune/programs`: wake_word,
pose_heatmaps).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import KERAS_FIT
from tb_slowdown_plugin.catalog.parameters.shared import (
    ALIKE,
    LARGER,
    MAJORITY,
    NEGLIGIBLE,
    SERIES,
    SEVERAL,
)
from tb_slowdown_plugin.catalog.parameters.stats import TREND_SIGNIFICANCE
from tb_slowdown_plugin.records.types import Fact, Float, Int, Run

_SIZES: Final = 2
"""Of batches: all but the last one of a pass are alike."""
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
    made = dict(measured)
    pipelines = _pipelines(run)
    # The last step, and where its batch may be a smaller one, the step before it.
    ready = 1 if pipelines and pipelines[-1].numbers.get("full_batches") else 2
    passes = [each for each in _passes(epochs, len(run.steps)) if _ends_alike(run, each, ready)]
    if len(passes) < SEVERAL or not _batches_are_alike(run, pipelines):
        return made
    core = left_over(run, measured)
    others = [core[rows][1:-ready] for rows in passes]
    usual = np.array([np.median(each) for each in others])
    alone = np.array([core[rows][-ready] for rows in passes])
    if not np.all(usual > 0) or not _are_shorter(alone, usual, others):
        return made
    share = float(np.median(alone / usual))
    column = np.zeros(len(core))
    for rows, level in zip(passes, usual, strict=True):
        beside = slice(rows.start, rows.stop - ready)
        column[beside] = np.clip(core[beside] - share * level, 0.0, (1 - share) * level)
    made[names.INPUT_WORK] = column
    return made


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


def _pipelines(run: Run) -> list[Fact]:
    return [fact for _, fact in run.facts(names.INPUT_PIPELINE)]


def _is_fit(run: Run) -> bool:
    """Whether Keras trains: its functions get iterators, whose elements are declared, not seen."""
    return bool(run.facts(KERAS_FIT))


def _batches_are_alike(run: Run, pipelines: Sequence[Fact]) -> bool:
    """Whether all batches of a pass but the last are of one size, as far as the record says."""
    stages = [set(fact.subject.split()) for fact in pipelines]
    if any(_UNEVEN & each for each in stages):
        return False
    are_seen = run.steps.argument_size.any() and not _is_fit(run)
    if are_seen or any(_BATCHES & each for each in stages):
        return True
    shapes = run.signals.values.get("batch_shapes")
    return shapes is not None and 0 < float(np.nanmax(shapes, initial=0.0)) <= _SIZES


def _are_shorter(alone: Float, usual: Float, others: Sequence[Float]) -> bool:
    """Whether the steps at the end of passes are shorter than chance makes any of the others."""
    short = int(np.count_nonzero(LARGER * alone <= usual))
    pairs = zip(others, usual, strict=True)
    chance = float(np.mean(np.concatenate([LARGER * each <= level for each, level in pairs])))
    expected = chance * len(usual)
    errors = (short - expected) / np.sqrt(max(expected * (1 - chance), NEGLIGIBLE))
    return bool(short >= MAJORITY * len(usual) and errors >= TREND_SIGNIFICANCE)
