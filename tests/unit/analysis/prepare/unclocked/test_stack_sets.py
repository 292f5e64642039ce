"""Samples of a stack are told in sets, of which one step may have several."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import stack_sets
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, of):
    return Fact("python_stack", place, {"samples": samples, "of": of})


def test_two_sets_within_one_step_are_two(make_run):
    events = [(7, stack("a (b.py:1)", 8.0, of=8.0)), (7, stack("a (b.py:1)", 20.0, of=20.0))]
    sets = stack_sets(make_run(np.full(20, 3.0), events=events))
    assert [(each.row, each.of, len(each.facts)) for each in sets] == [(7, 8.0, 1), (7, 20.0, 1)]
