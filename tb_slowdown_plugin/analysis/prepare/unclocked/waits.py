"""What a line waits in every step: for a lock or a queue of the program's own, or for a disk.

No step is slow then: samples of the stack tell how often the training thread was waiting there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.slow_steps import waits_in
from tb_slowdown_plugin.analysis.stats.time_trend import grows
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MATTERS
from tb_slowdown_plugin.records.types import Fact, Float, Run


@dataclass(frozen=True, slots=True)
class StackSet:
    """Samples of the training thread's stack that were told together."""

    row: int
    of: float
    facts: list[Fact] = field(default_factory=list)
    """One for each place."""

    def has_room(self, fact: Fact) -> bool:
        """Whether it can be of this set: of another place, and of no more samples than are left."""
        places = (one.subject for one in self.facts)
        samples = sum(one.numbers.get("samples", 0.0) for one in (*self.facts, fact))
        return fact.subject not in places and samples <= self.of


def stack_sets(run: Run) -> list[StackSet]:
    """All sets of samples, in order: in a long step there may be several."""
    sets: list[StackSet] = []
    for event in run.events:
        what = event.what
        if not isinstance(what, Fact) or what.name != PYTHON_STACK:
            continue
        of = what.numbers.get("of", 0.0)
        newest = sets[-1] if sets else None
        if (
            newest is None
            or (newest.row, newest.of) != (event.row, of)
            or not newest.has_room(what)
        ):
            newest = StackSet(event.row, of)
            sets.append(newest)
        newest.facts.append(what)
    return sets


def with_waits(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the line that waits in at least a quarter of the samples."""
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
    share = samples / max(1.0, sum(each.of for each in sets))
    known = {names.detail(account).rpartition(":")[0] for account in made}
    if share < MATTERS or place.rpartition(":")[0] in known:
        return made
    if family == names.FILE_WRITE and grows(core):
        return made  # the bytes that are written tell more of it: `causes/saving/disk.py`
    # Where nothing else computes the clock tells it better than samples do.
    waited = core - cpu if idle and family == names.WAIT else share * period
    made[names.account(family, place)] = np.clip(waited, 0.0, core)
    return made
