"""Stalls are read from the looks at their threads: one for each step that did not end."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from unit.analysis.stalled_runs import PLACE, STEPS, stalled

from tb_slowdown_plugin.analysis.prepare.run_stalls import find_run_stalls, open_stall
from tb_slowdown_plugin.catalog import events
from tb_slowdown_plugin.records.types import Event, Fact


def test_looks_at_one_step_are_one_stall_with_all_its_places(make_run):
    run = stalled(make_run)
    since = float(run.steps.ended[-1])
    later = Fact(events.STALL, "reads (data.py:90)", {"since": since, "seconds": 90.0})
    run = replace(run, events=(*run.events, Event(STEPS, since + 90.0, later)))
    (stall,) = find_run_stalls(run)
    assert stall.places == (PLACE, "reads (data.py:90)")
    assert (stall.seconds, stall.is_open) == (pytest.approx(90.0), True)
    assert dict(stall.others) == {}  # by the newest look
    assert open_stall(run) == stall


def test_two_steps_that_stalled_are_two_stalls(make_run):
    period = np.full(STEPS, 0.1)
    period[[100, 300]] = 90.0
    first, second = (stalled(make_run, period, row=row) for row in (100, 300))
    run = replace(first, events=first.events + second.events)
    found = find_run_stalls(run)
    assert [(stall.row, stall.seconds) for stall in found] == [
        (100, pytest.approx(90.0)),
        (300, pytest.approx(90.0)),
    ]
    assert open_stall(run) is None
