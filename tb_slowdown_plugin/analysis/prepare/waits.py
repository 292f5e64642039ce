"""What a line waits in every step, for a lock or a queue of the program's own.

No step is slow then: samples of the stack tell how often the training thread was waiting there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.prepare.slow_steps import waits_in
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.catalog.parameters.shared import IDLE_CORES, MATTERS
from tb_slowdown_plugin.records.types import Fact, Float, Run


def with_waits(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the line that waits in at least a quarter of the samples."""
    made = dict(measured)
    period = run.steps.period_seconds
    core = np.maximum(period - sum(np.nan_to_num(each) for each in measured.values()), 0.0)
    cpu = np.nan_to_num(run.steps.process_cpu_seconds, nan=np.inf)
    idle = float(cpu.sum()) < IDLE_CORES * float(core.sum())
    seen: dict[str, float] = defaultdict(float)
    of: dict[int, float] = {}
    for event in run.events:
        what = event.what
        if isinstance(what, Fact) and what.name == PYTHON_STACK:
            seen[what.subject] += waits_in(what, is_idle=idle)
            of[event.row] = what.numbers.get("of", 0.0)
    place, samples = max(seen.items(), key=lambda each: each[1], default=("", 0.0))
    share = samples / max(1.0, sum(of.values()))
    known = {names.detail(account).rpartition(":")[0] for account in made}
    if share < MATTERS or place.rpartition(":")[0] in known:
        return made
    # Where nothing else computes the clock tells it better than samples do.
    waited = core - cpu if idle else share * period
    made[names.account(names.WAIT, place)] = np.clip(waited, 0.0, core)
    return made
