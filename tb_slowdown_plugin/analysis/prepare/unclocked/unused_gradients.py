"""What gradients take that no optimizer gets: a share of each step, counted in its graph."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import function_of
from tb_slowdown_plugin.analysis.types import zero_where_unknown
from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.catalog.events import STEP_FUNCTION, WIDE_GRADIENT
from tb_slowdown_plugin.catalog.parameters.shared import START_SHARE
from tb_slowdown_plugin.records.types import Fact, Float, Run

_AGAIN: Final = re.compile(r" no\. \d+ \(")
"""After the name of a function that was made again, of which each has a bit of its own."""


def with_unused_gradients(run: Run, measured: Mapping[str, Float]) -> dict[str, Float]:
    """The accounts, with one for each line whose unused gradients are counted.

    Args:
      run: The recording.
      measured: Account -> (S,) seconds; what is in none is the step's own work, and shared out.
    """
    made = dict(measured)
    for row, fact in run.facts(WIDE_GRADIENT):
        share = fact.numbers.get("share", 0.0)
        if not share > 0:  # nor where it can't be counted
            continue
        core = run.steps.period_seconds - sum(zero_where_unknown(each) for each in made.values())
        seconds = min(share, 1.0) * np.maximum(core, 0.0)
        account = names.account(names.UNUSED_GRADIENTS, fact.subject)
        made[account] = np.where(_runs_it(run, row, fact), seconds, 0.0)
    return made


def _runs_it(run: Run, row: int, fact: Fact) -> NDArray[np.bool_]:
    """(S,) the steps that run the function; all, or all later ones, where none tells."""
    bits = 0
    for _, told in run.facts(STEP_FUNCTION):
        if function_of(_AGAIN.sub(" (", told.subject)) == function_of(fact.subject):
            bits |= 1 << round(told.numbers.get("bit", 0))
    if bits:
        return np.asarray(run.steps.ran & bits > 0)
    rows = np.arange(len(run.steps))
    return rows >= (row if row > START_SHARE * len(rows) else 0)
