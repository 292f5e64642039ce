"""A run whose threads were looked at in a stall."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tb_slowdown_plugin.catalog import events
from tb_slowdown_plugin.records.types import Event, Fact

STEPS = 400
PLACE = "waits_for_lock (data.py:88)"


def stalled(make_run, period=None, *, row=STEPS, account=None, over=False, accounts=None):
    """A run that had been looked at 60 s and 250 s into a stall before the step of a row."""
    period = np.full(STEPS, 0.1) if period is None else period
    run = make_run(period, accounts=accounts)
    since = float(run.steps.ended[row - 1])
    numbers = {"since": since, "seconds": 60.0, "cpu_seconds": 0.3, "threads": 40.0}
    if account:
        numbers[f"in:{account}"] = 1.0
    facts = [
        Event(row, since + 60.0, Fact(events.STALL, PLACE, numbers)),
        Event(row, since + 60.0, Fact(events.STALL_THREAD, "serve (data.py:12)", {"threads": 2.0})),
    ]
    if over:
        facts.append(Event(row, since + 70.0, Fact(events.STALL_OVER)))
    return replace(run, events=tuple(facts))
