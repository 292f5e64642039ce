"""What threads take from the step that compute while they wait: cores that the step needs.

Where the process keeps its cores busy, a step gets so much less of them, and takes longer by that
share. Against a stopwatch, in two programs on two cores: 24% of the run instead of 61%, 34% instead
of 56% (`benchmarks/accuracy/tune/programs`: windmill_wakes, lamplighter_threads). What each thread
waits for the interpreter's lock isn't in it.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import POLLING_AT
from tb_slowdown_plugin.catalog.parameters.shared import MOSTLY
from tb_slowdown_plugin.records.types import Float, Run


def with_polling(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for the line that polls most, where cores are what steps wait for.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is in none is the step's own work.
    """
    made = dict(measured)
    polled = find_polled(run)
    cores = run.environment.limits.get("cpu_count", np.inf)
    wall = float(run.steps.period_seconds.sum())
    cpu = float(np.nansum(run.steps.process_cpu_seconds))
    if polled is None or not cpu >= MOSTLY * cores * wall:
        return made
    seconds = np.minimum(polled / cores, left_over(run, measured))
    made[names.account(names.POLLING, main_poll(run))] = seconds
    return made


def find_polled(run: Run) -> Float | None:
    """(S,) CPU seconds that threads polled beside each step, even between two samples."""
    values = run.signals.values.get("polling_seconds")
    if values is None:
        return None
    known = ~np.isnan(values)
    edges = np.arange(len(run.steps) + 1)
    # A sample stands in the last row that it has seen; before the first one none had polled.
    counted = np.interp(edges, run.signals.row[known] + 1, values[known], left=0.0)
    return np.asarray(np.maximum(np.diff(counted), 0.0))


def main_poll(run: Run) -> str:
    """The line that polled for most of it."""
    seconds = {fact.subject: fact.numbers["seconds"] for _, fact in run.facts(POLLING_AT)}
    return max(seconds, key=lambda place: seconds[place], default="")
