"""The function that takes what comes back is the one that samples saw for as long."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.regular_function import find_regular_function
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, **more):
    return Fact("python_stack", place, {"samples": float(samples), "of": 20.0, **more})


@pytest.fixture
def run(make_run):
    """30 s, of which samples saw 6 s in `spread`, 3 s in a line of the script."""
    facts = (
        stack("<module> (train.py:30)", 14),
        stack("spread (train.py:8)", 3),
        stack("spread (train.py:9)", 1),
        stack("<module> (train.py:31)", 2),
    )
    events = [(10 * number, fact) for number in (1, 2, 3) for fact in facts]
    return make_run(np.full(30, 1.0), events=events)


@pytest.mark.parametrize(
    ("seconds", "place", "samples"),
    [(8.0, "spread (train.py:8)", 12), (2.0, "train.py:31", 6)],
)
def test_it_took_as_long_within_a_factor_of_two(run, seconds, place, samples):
    assert find_regular_function(run, seconds) == (place, samples, 60)


@pytest.mark.parametrize("seconds", [0.5, 21.0], ids=["far less", "as the line that trains"])
def test_no_other_has(run, seconds):
    assert find_regular_function(run, seconds) is None


def test_a_line_that_waits_and_the_one_that_trains_work_at_nothing_between_steps(make_run):
    facts = (
        stack("Feeder.take (train.py:71)", 12, waits_inside=12.0),
        stack("main (train.py:137)", 8, graph=7.0),
    )
    run = make_run(np.full(30, 1.0), events=[(10, fact) for fact in facts] * 3)
    assert find_regular_function(run, 12.0) is None
