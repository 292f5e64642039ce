"""What functions of the program take in every step, of which no clock knows.

In its own Python, such as a list that is walked through for each batch; in a list or a large array
that becomes a tensor each time; or in TensorFlow operations that it starts one by one, beside steps
that run a graph. Where all of a step is eager, it is the model that computes, and a note says what
a graph would save.

No step is slow by it, so samples of the stack tell the time. Where it takes ever longer, what it
works on grows, and growth has causes of its own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds, run_graphs
from tb_slowdown_plugin.analysis.prepare.unclocked.callers import work_by_callers
from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    StackSet,
    facts_of,
    function_of,
    stack_sets,
    times_inside,
    unit_of,
)
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.ledger import INPUT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import (
    FAR_BEYOND,
    MAJORITY,
    MATTERS,
    MOSTLY,
    SEVERAL,
    TELLING,
)
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float

Work: TypeAlias = Literal["converts", "copies", "no_graph", "own", "feeds"]
"""The number of a place's samples that counts: in what makes a tensor of a list, or of an array, in
an operation,
in the program's own Python, or in a generator that feeds the loop."""

WORKS: Final[dict[str, Work]] = {
    names.FED_INPUT: stack_samples.FEEDS,
    names.CONVERTED: stack_samples.CONVERTS,
    names.COPIED: stack_samples.COPIES,
    names.EAGER: stack_samples.NO_GRAPH,
    names.OWN_PYTHON: stack_samples.OWN,
}
"""Account -> what counts."""


class FlatFunction(NamedTuple):
    """A function that does such work in every step."""

    place: str
    """Its line that does most of it, "f (train.py:14)"."""
    working: int
    """Samples in which it did."""
    samples: int
    """Samples in which the training thread was there."""
    of: int
    """All samples."""


def with_flat_python(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each function that does such work in a good part of all samples.

    And in most sets of them: what a program does at the end of an epoch is in few. Of what feeds
    the loop a share is enough from which waiting for a pipeline counts.
    """
    made = dict(measured)
    for family, work in WORKS.items():
        for found in find_flat_functions(run, work):
            if _has_account(made, found):
                continue
            core = left_over(run, made)
            if grows(core) and _is_longer_at_end(run, found):
                continue
            there = found.samples if work == stack_samples.NO_GRAPH else found.working
            seconds = _share_out(run, core, there / found.of)
            made[names.account(family, found.place)] = seconds
    return made


def _share_out(run: Run, core: Float, share: float) -> Float:
    """(S,) so much of the run: of each step, or of a few that are longer by about as much."""
    period = run.steps.period_seconds
    beyond = np.zeros(len(core))
    kinds = find_kinds(run).kind
    for kind in np.unique(kinds):
        rows = kinds == kind
        usual = float(np.median(core[rows]))
        beyond[rows] = np.where(core[rows] >= FAR_BEYOND * usual, core[rows] - usual, 0.0)
    seconds = share * float(period.sum())
    is_alike = MAJORITY * seconds <= float(beyond.sum()) <= seconds / MAJORITY
    if is_alike and np.count_nonzero(beyond) <= TELLING * len(core):
        return beyond
    return np.clip(share * period, 0.0, core)


def find_flat_functions(run: Run, work: Work, *, at_once: bool = False) -> list[FlatFunction]:
    """The functions with enough samples, the most first.

    That is a quarter of all, and a tenth beside one that has a quarter; a function counts with
    those that it calls. Of lists a tenth is enough: no step needs to look at their elements.
    Operations count beside steps that run something else, and in functions that do little else.

    Args:
      run: The recording.
      work: What counts.
      at_once: Of operations, those that compute much at once; else those that take little beyond
        their start.
    """
    if work == stack_samples.NO_GRAPH and not run_graphs(run):
        return []
    sets = stack_sets(run)
    of = max(1, round(sum(each.of for each in sets)))
    if work == stack_samples.FEEDS:
        feeding = _find_feeding(sets, of)
        return [feeding] if feeding else []
    found: list[FlatFunction] = []
    for functions in work_by_callers(sets, work):
        lines = _lines_of(sets, functions, work)
        least = TELLING if found or work == stack_samples.CONVERTS else MATTERS
        if lines.total() < max(SEVERAL, _least_samples(least, of)):
            continue
        samples = _samples_there(sets, functions, lines, work)
        if work == stack_samples.NO_GRAPH:
            long = _lines_of(sets, functions, stack_samples.LONG_OPERATION).total()
            if lines.total() < MAJORITY * samples or (long >= MATTERS * samples) != at_once:
                continue
        seen_in = sum(1 for each in sets if _lines_of([each], functions, work).total())
        if seen_in >= MOSTLY * len(sets):
            found.append(FlatFunction(lines.most_common(1)[0][0], lines.total(), samples, of))
    return found


def _samples_there(
    sets: list[StackSet], functions: Collection[str], working: Counter[str], work: Work
) -> int:
    """All samples in functions; where operations count, without those of graphs.

    And of a script without those of other lines: it is no function, but all of the program.
    """
    lines = _lines_of(sets, functions, stack_samples.SAMPLES)
    if work == stack_samples.NO_GRAPH:
        lines -= _lines_of(sets, functions, stack_samples.GRAPH)
        for line in list(lines):
            if line.startswith(names.SCRIPT) and working[line] < MAJORITY * lines[line]:
                del lines[line]
    return lines.total()


def _find_feeding(sets: list[StackSet], of: int) -> FlatFunction | None:
    """All that feeds the loop, in whatever functions; a step waits for it as for a pipeline."""
    per_set = [
        sum(fact.numbers.get(stack_samples.FEEDS, 0.0) for fact in each.facts) for each in sets
    ]
    total = round(sum(per_set))
    if total < max(SEVERAL, INPUT_FLOOR * of) or np.count_nonzero(per_set) < MOSTLY * len(sets):
        return None
    lines = _lines_of(sets, None, stack_samples.FEEDS)
    return FlatFunction(lines.most_common(1)[0][0], total, total, of)


def _least_samples(share: float, of: int) -> float:
    """Such a share of all samples, and as many more as that may be by chance.

    Example:
      >>> math.ceil(_least_samples(0.25, 30))
      10
    """
    return share * of + math.sqrt(share * (1 - share) * of)


def _lines_of(sets: list[StackSet], functions: Collection[str] | None, number: str) -> Counter[str]:
    """Line -> its samples of a kind, of the lines of some functions; of all for None."""
    lines: Counter[str] = Counter()
    for fact in facts_of(sets):
        if functions is None or function_of(fact.subject) in functions:
            lines[fact.subject] += round(fact.numbers.get(number, 0.0))
    return lines


def _has_account(measured: Mapping[str, Float], function: FlatFunction) -> bool:
    """Whether seconds of that function are known already, such as those in which it writes."""
    known = {unit_of(names.detail(name)) for name in measured}
    return unit_of(function.place) in known


def _is_longer_at_end(run: Run, function: FlatFunction) -> bool:
    """Whether a step spends far more time there in the last third of the samples' sets."""
    inside = times_inside(run, function.place, function_of)
    per_step = [each.seconds / each.steps for each in inside]
    third = len(per_step) // 3
    return third > 0 and sum(per_step[-third:]) >= FAR_BEYOND * sum(per_step[:third])
