"""What gradients take that no optimizer gets: a share of each step, counted in its graph.

So is what a step computes on all rows of a table of which it needs a few, a second pass through the
model, and products with matrices that are nearly all zeros. Also what calls take that one would do
for: of the samples of the stack in such a line, all but the part of one call.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import function_of, times_of
from tb_slowdown_plugin.analysis.stats.time_trend import grows, median_slope
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.counted_work import BOOKED, FAMILIES
from tb_slowdown_plugin.catalog.events import (
    PADDED_BATCH,
    PYTHON_STACK,
    SEQUENCE_WORK,
    STEP_FUNCTION,
    WHOLE_TABLE,
)
from tb_slowdown_plugin.catalog.parameters.shared import MATTERS, SEVERAL, START_SHARE
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, Fact, Float, Int

_GRADIENTS: Final = (stack_samples.EAGER_TRAINING, stack_samples.GRAPH)
"""Kinds of samples in a line that asks for gradients; of functions, TensorFlow runs a graph."""
_PARTS: Final = 10
"""Of an epoch, whose medians are compared."""
_AGAIN: Final = re.compile(r" no\. \d+ \(")
"""After the name of a function that was made again, of which each has a bit of its own."""


def with_counted_work(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each line that computes for nothing, as far as graphs tell.

    Args:
      run: The recording.
      measured: Account -> (S,) seconds; what is in none is the step's own work, and shared out.
    """
    made = dict(measured)
    core = left_over(run, made)
    for account, told in _of_lines(run).items():
        seconds = np.zeros(len(run.steps))
        for row, fact in told:
            share = float(np.nan_to_num(min(_share_of(run, fact, core), 1)))  # it may be unknown
            runs_it = _runs_it(run, row, fact)
            if fact.numbers.get("kept", 0.0) > 0:
                begins = np.array([at for at, _ in run.all_of(Epoch)], np.int64)
                taken = _take_rising(core, _place_within(begins, len(core)), share)
            else:
                taken = share * core
            seconds[runs_it] = taken[runs_it]
        if seconds.any():
            core = core - seconds
            made[account] = seconds
    return made


def _place_within(begins: Int, size: int) -> Float:
    """(S,) how far each step is in its epoch, from 0 to 1; in the run, if that has none."""
    edges = np.unique(np.concatenate([[0], begins[begins < size], [size]]))
    place = np.zeros(size)
    for first, end in itertools.pairwise(edges.tolist()):
        place[first:end] = np.linspace(0.0, 1.0, end - first)
    return place


def _take_rising(core: Float, place: Float, share: float) -> Float:
    """What work that gets more with each step of an epoch, and starts anew, takes, in seconds.

    What steps (S,) rise by along their epochs, by Theil and Sen's line through the medians of
    tenths, and not more than a share of all; 0 where they don't rise so.

    Example:
      >>> place = _place_within(np.array([0, 20, 40]), 60)
      >>> taken = _take_rising(2.0 + 4.0 * place, place, 0.9)
      >>> bool(np.allclose(taken, 4.0 * place))
      True
      >>> bool(_take_rising(2.0 + np.cos(97.0 * np.arange(60)), place, 0.9).any())
      False
    """
    nothing = np.zeros(len(core))
    if len(core) < _PARTS or share <= 0:
        return nothing
    parts = np.minimum((place * _PARTS).astype(int), _PARTS - 1)
    tenths = [core[parts == part] for part in range(_PARTS)]
    if not all(len(each) for each in tenths):
        return nothing
    medians = np.array([np.median(each) for each in tenths])
    if not grows(medians):
        return nothing
    centers = np.array([np.median(place[parts == part]) for part in range(_PARTS)])
    rising = np.clip(median_slope(centers, medians) * place, 0.0, core)
    most = share * float(core.sum())
    return rising * min(1.0, most / float(rising.sum())) if rising.any() else nothing


def _share_of(run: Run, fact: Fact, core: Float) -> float:
    """Of what is left of a step, (S,) seconds; 0 where nothing tells it."""
    if fact.name == WHOLE_TABLE:
        return share_of_tables(run, fact.numbers)
    if fact.name == SEQUENCE_WORK:
        return _share_of_padding(run, fact.numbers)
    if fact.numbers.get("called"):
        return _share_of_samples(run, core, lambda one: _samples_in_pass(one, fact.subject))
    calls = fact.numbers.get("repeated", 0.0)
    if calls <= 1 or "share" in fact.numbers:
        return fact.numbers.get("share", 0.0)

    def samples_there(one: Fact) -> float:
        kinds = (one.numbers.get(kind, 0.0) for kind in _GRADIENTS)
        return sum(kinds) if one.subject == fact.subject else 0.0

    return _share_of_samples(run, core, samples_there) * (1 - 1 / calls)


def _share_of_padding(run: Run, numbers: Mapping[str, float]) -> float:
    """What a step computes for columns that are padding; 0 where no batch was looked at."""
    columns = numbers["columns"]
    seen = [each for _, each in run.facts(PADDED_BATCH) if each.numbers["columns"] == columns]
    if not seen:
        return 0.0
    used = seen[-1].numbers["used"] / columns
    return numbers["share"] * (1 - used) + numbers["squared"] * (1 - used**2)


def _share_of_samples(run: Run, core: Float, count: Callable[[Fact], float]) -> float:
    """Of what is left of the steps that samples cover; 0 where too few are there."""
    if sum(count(one) for _, one in run.facts(PYTHON_STACK)) < SEVERAL:
        return 0.0
    times = list(times_of(run, count))
    covered = float(core[: sum(each.steps for each in times)].sum())
    return sum(each.seconds for each in times) / covered if covered > 0 else 0.0


def _samples_in_pass(one: Fact, place: str) -> float:
    """In a line that calls a model, or a function with one."""
    kinds = (stack_samples.NO_GRAPH, stack_samples.GRAPH)
    return sum(one.numbers.get(kind, 0.0) for kind in kinds) if one.subject == place else 0.0


def share_of_tables(run: Run, numbers: Mapping[str, float]) -> float:
    """The share of a step that work on whole tables is.

    Args:
      run: Of which the record may tell how many examples a step has.
      numbers: Of the fact.
    """
    items = run.steps.items[np.isfinite(run.steps.items)]
    if not len(items):
        return numbers["share"]
    batch = float(np.median(items))
    if numbers["looked_up"] + batch * numbers["looked_up_per_item"] > MATTERS * numbers["rows"]:
        return 0.0
    rest = numbers["rest"] + batch * numbers["rest_per_item"]
    return numbers["work"] / (numbers["work"] + rest)


def _of_lines(run: Run) -> dict[str, list[tuple[int, Fact]]]:
    """What is told of each line, by its account, in order: a factor may become zero, or cease."""
    told: dict[str, list[tuple[int, Fact]]] = {}
    for name, family in FAMILIES.items():
        for row, fact in run.facts(name):
            if not fact.numbers.get(BOOKED):
                told.setdefault(names.account(family, fact.subject), []).append((row, fact))
    return told


def _runs_it(run: Run, row: int, fact: Fact) -> NDArray[np.bool_]:
    """(S,) the steps that the fact is about: later ones, of those that run the function."""
    bits = 0
    for _, told in run.facts(STEP_FUNCTION):
        if function_of(_AGAIN.sub(" (", told.subject)) == function_of(fact.subject):
            bits |= 1 << round(told.numbers.get("bit", 0))
    rows = np.arange(len(run.steps))
    if "since" in fact.numbers:
        since = fact.numbers["since"]
    else:  # recorded before it was told
        since = row if not bits and row > START_SHARE * len(rows) else 0
    ran = np.asarray(run.steps.ran & bits > 0)
    return (rows >= since) & (ran if ran.any() else True)
