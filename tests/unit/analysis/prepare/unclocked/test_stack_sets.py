"""Samples of a stack are told in sets, of which one step may have several."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import (
    find_training_unit,
    stack_sets,
    times_inside,
)
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, of):
    return Fact("python_stack", place, {"samples": samples, "of": of})


def test_two_sets_within_one_step_are_two(make_run):
    events = [(7, stack("a (b.py:1)", 8.0, of=8.0)), (7, stack("a (b.py:1)", 20.0, of=20.0))]
    sets = stack_sets(make_run(np.full(20, 3.0), events=events))
    assert [(each.row, each.of, len(each.facts)) for each in sets] == [(7, 8.0, 1), (7, 20.0, 1)]


def test_a_line_that_is_told_twice_is_of_one_set(make_run):
    """Records of Python 3.11 have the line of a comprehension, and that of its function."""
    events = [(7, stack("a (b.py:1)", each, of=20.0)) for each in (9.0, 4.0)]
    (found,) = stack_sets(make_run(np.full(20, 3.0), events=events))
    assert [each.numbers["samples"] for each in found.facts] == [9.0, 4.0]


def test_a_function_took_its_share_of_the_steps_of_each_set(make_run):
    events = [
        (5, stack("a (b.py:1)", 8.0, of=10.0)),
        (5, stack("a (b.py:9)", 1.0, of=10.0)),
        (7, stack("c (b.py:30)", 8.0, of=10.0)),
        (7, stack("a (b.py:1)", 10.0, of=20.0)),  # in the same long step
        (9, stack("a (b.py:1)", 0.0, of=0.0)),
        (12, stack("a (b.py:1)", 3.0, of=10.0)),
    ]
    run = make_run(np.full(12, 2.0), events=events)
    inside = list(times_inside(run, "a (b.py:9)"))
    assert [each.steps for each in inside] == [5, 2, 3]
    np.testing.assert_allclose([each.seconds for each in inside], [9.0, 0.0, 1.8])


def test_what_is_in_a_graph_in_most_samples_trains(make_run):
    facts = [
        Fact("python_stack", "take (train.py:71)", {"samples": 12.0, "of": 20.0}),
        Fact("python_stack", "main (train.py:9)", {"samples": 5.0, "graph": 4.0, "of": 20.0}),
        Fact("python_stack", "main (train.py:8)", {"samples": 2.0, "graph": 2.0, "of": 20.0}),
        Fact("python_stack", "score (train.py:3)", {"samples": 1.0, "graph": 1.0, "of": 20.0}),
    ]
    run = make_run(np.full(30, 1.0), events=[(10, fact) for fact in facts])
    assert find_training_unit(stack_sets(run)) == "main (train.py"
    assert find_training_unit([]) == ""
