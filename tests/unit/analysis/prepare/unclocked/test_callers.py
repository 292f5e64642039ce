"""Functions that work for another are grouped with it; what the loop calls is not."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.callers import work_by_callers
from tb_slowdown_plugin.analysis.prepare.unclocked.stack_sets import StackSet
from tb_slowdown_plugin.records.types import Fact


def at(function, own, caller="", graph=0.0, called=None):
    numbers = {"samples": own + graph, "of": 40.0, "own": own, "graph": graph}
    if caller:
        numbers[f"by:{caller} (a.py:1)"] = own + graph if called is None else called
    return Fact("python_stack", f"{function} (a.py:9)", numbers)


def groups(*facts):
    found = work_by_callers([StackSet(10, 40.0, list(facts))], "own")
    return [sorted(name.partition(" (")[0] for name in group) for group in found]


LOOP = at("main", 4.0, graph=10.0)


def test_what_a_function_calls_works_for_it():
    assert groups(LOOP, at("draw", 2.0, "main"), at("weight", 6.0, "draw")) == [
        ["draw", "weight"],
        ["main"],
    ]


def test_also_by_way_of_one_that_does_nothing_itself():
    draw = at("draw", 2.0, "main")
    assert groups(LOOP, draw, at("each", 0.0, "draw"), at("weight", 6.0, "draw")) == [
        ["draw", "weight"],
        ["main"],
    ]


@pytest.mark.parametrize("caller", ["main", "run"])
def test_what_the_loop_calls_or_what_calls_the_loop_does_not(caller):
    loop, run = at("main", 4.0, "run", graph=10.0), at("run", 3.0)
    assert groups(loop, run, at("weight", 6.0, caller)) == [["weight"], ["main"], ["run"]]


def test_a_function_that_several_call_works_for_none():
    assert groups(LOOP, at("draw", 2.0, "main"), at("weight", 6.0, "draw", called=3.0)) == [
        ["weight"],
        ["main"],
        ["draw"],
    ]


def test_without_callers_each_function_is_by_itself():
    assert groups(at("draw", 2.0), at("weight", 6.0)) == [["weight"], ["draw"]]
