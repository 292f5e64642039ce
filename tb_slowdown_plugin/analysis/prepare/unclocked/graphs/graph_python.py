"""What functions of Python take that a step's graph calls: TensorFlow's threads run them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.left_over import left_over
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import GRAPH_PYTHON
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Float


def with_graph_python(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each function that the step's graph calls.

    Args:
      run: The recording.
      measured: Account -> (S,) exclusive seconds; what is in none is the step's own work.
    """
    made = dict(measured)
    told: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for row, fact in run.facts(GRAPH_PYTHON):
        told[fact.subject].append((row, fact.numbers["seconds"]))
    for place, so_far in told.items():
        seconds = _share_out(len(run.steps), so_far)
        account = names.account(names.GRAPH_PYTHON, place)
        made[account] = np.minimum(seconds, left_over(run, made))
    return made


def _share_out(size: int, so_far: list[tuple[int, float]]) -> Float:
    """(S,) seconds of each step: between two facts the same, behind the last one as before it."""
    seconds = np.zeros(size)
    first, before, each = 0, 0.0, 0.0
    for row, total in so_far:
        end = min(row + 1, size)
        if end > first and total >= before:
            each = (total - before) / (end - first)
            seconds[first:end] = each
            first, before = end, total
    seconds[first:] = each
    return seconds
