"""A verdict on some seconds says how many more passed that nobody judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.unjudged import describe_unjudged
from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.catalog.names import CALLED
from tb_slowdown_plugin.records.types import Event, Fact


def ended(make_run, judged, after):
    """A run of so many seconds in steps, and so many until it was stopped."""
    run = make_run(np.full(100, judged / 100))
    stop = Event(100, float(run.steps.ended[-1]) + after, Fact(MONITOR_STOPPED))
    return replace(run, events=(*run.events, stop), is_ended=True)


@pytest.mark.parametrize(
    ("judged", "after", "said"),
    [(20.5, 95.6, "1 min 36 s"), (100.0, 31.0, "31.0 s"), (7.0, 8.0, "8 s")],
)
def test_much_time_after_the_last_step_is_a_note(make_run, judged, after, said):
    run = ended(make_run, judged, after)
    assert describe_unjudged(run) == f"{said} passed after the last step and are not judged."


@pytest.mark.parametrize(("judged", "after"), [(100.0, 29.0), (200.0, 40.0), (2.0, 4.0)])
def test_little_time_is_none(make_run, judged, after):
    assert describe_unjudged(ended(make_run, judged, after)) is None


def test_a_run_that_goes_on_has_no_last_step(make_run):
    assert describe_unjudged(replace(ended(make_run, 20.0, 90.0), is_ended=False)) is None
    assert describe_unjudged(make_run(np.full(100, 0.1))) is None


def test_calls_that_take_most_of_it_are_told(make_run):
    subject = "predict:plot.py:8|predict|draw (plot.py:8)"
    run = ended(make_run, 10.0, 40.0)
    last = run.steps.ended[-1]
    told = [
        Event(99, float(last), Fact(CALLED, subject, {"seconds": 1.0, "calls": 10.0})),
        Event(100, float(last) + 30, Fact(CALLED, subject, {"seconds": 31.0, "calls": 522.0})),
    ]
    assert describe_unjudged(replace(run, events=(*told, *run.events))) == (
        "40.0 s passed after the last step and are not judged. At least 30.0 s of them went into "
        "512 calls of `predict`, on a few examples each, in `draw (plot.py:8)`."
    )
    few = [told[0], replace(told[1], what=replace(told[1].what, numbers={"seconds": 5.0}))]
    assert describe_unjudged(replace(run, events=(*few, *run.events))) == (
        "40.0 s passed after the last step and are not judged."
    )
