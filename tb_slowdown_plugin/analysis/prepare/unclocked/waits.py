"""What a line waits in every step: for a lock or a queue of the program's own, or for a disk.

No step is slow then: samples of the stack tell how often the training thread was waiting there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.slow_steps import waits_in
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import StackSet, stack_sets
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.parameters.ledger import INPUT_FLOOR
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MATTERS, SEVERAL, TELLING
from tb_slowdown_plugin.records.types import Float, Run


def with_waits(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the line that waits, or writes, in most samples of such lines.

    A line that waits has at least a quarter of all samples. One that writes needs the share from
    which waiting for input counts: nothing that computes could be mistaken for it.
    """
    made = dict(measured)
    sets = stack_sets(run)
    if not sets:
        return made
    period = run.steps.period_seconds
    core = np.maximum(period - sum(zero_where_unknown(each) for each in measured.values()), 0.0)
    cpu = np.nan_to_num(run.steps.process_cpu_seconds, nan=np.inf)
    idle = float(cpu.sum()) < IDLE_CORES * float(core.sum())
    seen: dict[tuple[str, str], float] = defaultdict(float)
    for fact in (fact for each in sets for fact in each.facts):
        seen[names.WAIT, fact.subject] += waits_in(fact, is_idle=idle)
        seen[names.FILE_WRITE, fact.subject] += fact.numbers.get("waits_writing", 0.0)
    (family, place), samples = max(seen.items(), key=lambda each: each[1])
    if not samples or place.rpartition(":")[0] in {
        names.detail(account).rpartition(":")[0] for account in made
    }:
        return made
    if family == names.FILE_WRITE:
        start, share = _since(sets, place)
        # The bytes that are written tell more of what grows: `causes/saving/disk.py`.
        if share < INPUT_FLOOR or grows(core[start:]):
            return made
        period = np.where(np.arange(len(period)) < start, 0.0, period)
    else:
        share = samples / sum(each.of for each in sets)
        if share < MATTERS:
            return made
    # Where nothing else computes the clock tells it better than samples do.
    waited = core - cpu if idle and family == names.WAIT else share * period
    made[names.account(family, place)] = np.clip(waited, 0.0, core)
    return made


def _since(sets: list[StackSet], place: str) -> tuple[int, float]:
    """From which step on a line writes, and its share of the samples from then on.

    All of its samples, where Linux showed several of them to write: to commit, or to flush to a
    fast disk, is mostly to compute in Linux, which then doesn't show what it computes.
    """
    numbers = [[f.numbers for f in each.facts if f.subject == place] for each in sets]
    wrote = [sum(each.get("waits_writing", 0.0) for each in of_set) for of_set in numbers]
    there = [sum(each.get("samples", 0.0) for each in of_set) for of_set in numbers]
    first = next(index for index, samples in enumerate(wrote) if samples)
    is_its_work = sum(wrote) >= max(SEVERAL, TELLING * sum(there[first:]))
    share = sum((there if is_its_work else wrote)[first:]) / sum(each.of for each in sets[first:])
    return (sets[first].row if first else 0), share
