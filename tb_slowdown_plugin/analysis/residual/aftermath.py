"""What a measured event costs in the steps around it, beyond its own clock.

A new graph is slower at its second run, too, and caches are cold after a long
trace. Seconds that are bound to the event step by step belong to it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tb_slowdown_plugin.analysis.prepare.steps import Steps
from tb_slowdown_plugin.analysis.stats.events import find_events
from tb_slowdown_plugin.analysis.stats.noise import deviation
from tb_slowdown_plugin.catalog.accounts import rule_of
from tb_slowdown_plugin.records.types import Float, Int

_FEWEST_EVENTS: Final = 10
_FEWEST_QUIET: Final = 20
_LEAST_EXCESS: Final = 0.15
_LEAST_Z: Final = 7.0
_MEDIAN_ERROR: Final = 1.25
"""Standard error of a median over that of a mean, of normal values."""


def find_aftermath(steps: Steps, residual: Float, start: int) -> tuple[str, Int] | None:
    """Rows whose core is slow because something that should never happen happened there.

    Args:
      steps: The run.
      residual: (S,) relative excess of each core over its level.
      start: First row after warm-up.

    Returns:
      The account of class "never" with the most seconds, and the rows: those of
      its events, the ones that follow, or both. None if they are like the rest.
    """
    never = {
        name: column
        for name, column in steps.accounts.items()
        if rule_of(name).class_ == "never" and column[start:].any()
    }
    if not never:
        return None
    account = max(never, key=lambda name: float(never[name].sum()))
    events = find_events(never[account])
    events = events[events >= start]
    following = np.setdiff1d(events + 1, events)
    following = following[following < len(steps)]
    quiet = np.ones(len(steps), bool)
    quiet[:start] = False
    quiet[events] = False
    quiet[following] = False
    rest = residual[quiet]
    if len(events) < _FEWEST_EVENTS or len(rest) < _FEWEST_QUIET:
        return None
    usual = deviation(rest), float(np.median(rest, overwrite_input=True))
    slow = [rows for rows in (events, following) if _is_slower(residual[rows], *usual, len(rest))]
    return (account, np.sort(np.concatenate(slow))) if slow else None


def _is_slower(values: Float, sigma: float, usual: float, count: int) -> bool:
    """Whether values are above `count` others, of which deviation and median are given."""
    if len(values) < _FEWEST_EVENTS:
        return False
    difference = float(np.median(values)) - usual
    spread = max(deviation(values), sigma, 1e-3)
    z = difference / (_MEDIAN_ERROR * spread * np.sqrt(1 / len(values) + 1 / count))
    return difference >= _LEAST_EXCESS and z >= _LEAST_Z
