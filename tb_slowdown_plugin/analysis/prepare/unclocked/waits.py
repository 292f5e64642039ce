"""What a line waits in every step: for a lock or a queue of its own, a connection, or a disk.

No step is slow then: samples of the stack tell how often the training thread was waiting there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.analysis.prepare.unclocked.slow_steps import waits_in
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    StackSet,
    facts_of,
    stack_sets,
    unit_of,
)
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.catalog import names, stack_samples
from tb_slowdown_plugin.catalog.parameters.ledger import INPUT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MATTERS, SEVERAL, TELLING
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


class Writes(NamedTuple):
    """How often a line was seen to write a file, since it began to."""

    row: int
    """The step from which on."""
    samples: float
    """In which it wrote."""
    there: float
    """In which the training thread was there, writing or not."""
    of: float
    """All."""

    @property
    def is_all_it_does(self) -> bool:
        """Whether all samples of the line count.

        To commit, or to flush to a fast disk, is mostly to compute in Linux, which then doesn't
        show what it computes.
        """
        return self.samples >= max(SEVERAL, TELLING * self.there)

    @property
    def share(self) -> float:
        """Of a step."""
        return (self.there if self.is_all_it_does else self.samples) / self.of


class _Waiting(NamedTuple):
    """A line that waits or writes often enough."""

    account: str
    samples: float
    """In which it does."""
    share: float
    """Of a step."""
    row: int
    """The step from which on."""


def with_waits(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each function that waits, or writes, by its line that does most.

    A line that waits by itself, as where a library computes in its threads, has at least a quarter
    of all samples. One that writes, pauses, takes a lock, or waits for another process needs the
    share from which waiting for input counts: nothing that computes could be mistaken for it.
    """
    made = dict(measured)
    sets = stack_sets(run)
    if not sets:
        return made
    period = run.steps.period_seconds
    core = left_over(run, measured)
    cpu = run.steps.process_cpu_seconds
    known = ~np.isnan(cpu)  # not of the last steps: the clock is read every so often
    idle = float(cpu[known].sum()) < IDLE_CORES * float(core[known].sum())
    found = [
        each
        for each in _find_waiting(sets, made, is_idle=idle)
        # The bytes that are written tell more of what grows: `causes/saving/disk.py`.
        if not (_writes(each) and grows(core[each.row :]))
    ]
    waiting = max(1.0, sum(each.samples for each in found if not _writes(each)))
    for each in found:
        since = np.where(np.arange(len(period)) < each.row, 0.0, period)
        # Where nothing else computes the clock tells it better than samples do.
        by_clock = known & idle & (not _writes(each))
        waited = np.where(by_clock, (core - cpu) * (each.samples / waiting), each.share * since)
        made[each.account] = np.clip(waited, 0.0, left_over(run, made))
    return made


def _writes(each: _Waiting) -> bool:
    return names.family(each.account) == names.FILE_WRITE


def _find_waiting(
    sets: list[StackSet], made: Mapping[str, Float], *, is_idle: bool
) -> Iterator[_Waiting]:
    """Of each function the line that waits in most samples, where they are enough."""
    by_set: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0] * len(sets))
    for number, fact in ((n, fact) for n, each in enumerate(sets) for fact in each.facts):
        numbers = fact.numbers
        for family, samples in (
            (names.WAIT, waits_in(fact, is_idle=is_idle)),
            (names.CONNECTION, numbers.get(stack_samples.WAITS_OUTSIDE, 0.0)),
            (names.FILE_WRITE, numbers.get(stack_samples.WAITS_WRITING, 0.0)),
        ):
            by_set[family, fact.subject][number] += samples
    seen = {line: sum(samples) for line, samples in by_set.items()}
    known = {unit_of(names.detail(account)) for account in made}
    for (family, place), samples in sorted(seen.items(), key=lambda each: -each[1]):
        if samples < SEVERAL:  # one of six may be by chance
            return
        if unit_of(place) in known:
            continue
        known.add(unit_of(place))
        account = names.account(family, place)
        writes = find_writes(sets, place) if family == names.FILE_WRITE else None
        if writes is not None:
            if writes.share >= INPUT_FLOOR:
                yield _Waiting(account, samples, writes.share, writes.row)
            continue
        waits = by_set[family, place]
        first = next(number for number, each in enumerate(waits) if each)
        share = samples / max(1.0, sum(each.of for each in sets[first:]))
        if share >= (INPUT_FLOOR if _is_sure(sets, family, place) else MATTERS):
            row = sets[first - 1].row if first else 0
            yield _Waiting(account, samples, share, row)


def _is_sure(sets: list[StackSet], family: str, place: str) -> bool:
    """Whether nothing computes in other threads while a line waits."""
    if family == names.CONNECTION:
        return True
    facts = [fact for fact in facts_of(sets) if fact.subject == place]
    alone = sum(fact.numbers.get(stack_samples.WAITS_ALONE, 0.0) for fact in facts)
    return alone == 0


def main_writer(sets: list[StackSet]) -> str:
    """The line that was seen to write a file in most samples; "" where it is too few."""
    wrote: dict[str, float] = defaultdict(float)
    for fact in facts_of(sets):
        wrote[fact.subject] += fact.numbers.get(stack_samples.WAITS_WRITING, 0.0)
    place = max(wrote, key=lambda each: wrote[each], default="")
    return place if place and wrote[place] >= SEVERAL else ""


def find_writes(sets: list[StackSet], place: str) -> Writes | None:
    """How often a line was seen, from the first set on in which it wrote; None where in none."""
    seen = [[fact.numbers for fact in each.facts if fact.subject == place] for each in sets]
    wrote = [sum(each.get(stack_samples.WAITS_WRITING, 0.0) for each in of_set) for of_set in seen]
    first = next((index for index, writes in enumerate(wrote) if writes), None)
    if first is None:
        return None
    there = sum(each.get(stack_samples.SAMPLES, 0.0) for of_set in seen[first:] for each in of_set)
    of = sum(each.of for each in sets[first:])
    return Writes(sets[first].row if first else 0, sum(wrote), there, max(of, there))
