"""How many steps are left, from what the program and Keras said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.planned_steps import StepsLeft, find_steps_left
from tb_slowdown_plugin.catalog.events import PLANNED_STEPS, PLANNED_STEPS_OVER
from tb_slowdown_plugin.records.run import Session
from tb_slowdown_plugin.records.types import Epoch, Fact


def plan(**numbers):
    return Fact(PLANNED_STEPS, "", {name: float(each) for name, each in numbers.items()})


def left(make_run, steps, *events, **options):
    return find_steps_left(make_run(np.ones(steps), events=events, **options))


def test_epochs_and_steps_of_keras(make_run):
    found = left(make_run, 30, (0, plan(epochs=5, steps=100)), (0, Epoch(0)))
    assert found == StepsLeft(470, 5)


def test_ends_of_epochs_are_in_the_first_steps_of_the_next(make_run):
    events = [(0, plan(epochs=5, steps=100)), (0, Epoch(0)), (100, Epoch(1)), (200, Epoch(2))]
    assert left(make_run, 230, *events) == StepsLeft(270, 3, (100, 200))


def test_a_pass_is_as_long_as_the_last_one_was(make_run):
    events = [(0, plan(epochs=3)), (0, Epoch(0)), (80, Epoch(1))]
    assert left(make_run, 100, *events) == StepsLeft(140, 2, (80,))
    assert left(make_run, 60, *events[:2]) is None  # Keras doesn't know it in the first pass


@pytest.mark.parametrize("steps", [80, 100])
def test_nothing_is_left_after_the_last_step(make_run, steps):
    events = [(0, plan(epochs=1, steps=80)), (0, Epoch(0))]
    assert left(make_run, steps, *events) is None


def test_a_fit_that_has_ended_leaves_nothing(make_run):
    events = [(0, plan(epochs=9, steps=10)), (0, Epoch(0)), (25, Fact(PLANNED_STEPS_OVER))]
    assert left(make_run, 25, *events) is None


def test_one_fit_after_others_is_a_part(make_run):
    first = [(0, plan(epochs=2, steps=10)), (0, Epoch(0)), (10, Epoch(1))]
    over = (20, Fact(PLANNED_STEPS_OVER))
    second = [(20, plan(epochs=3, steps=10)), (20, Epoch(2))]
    assert left(make_run, 25, *first, over, *second) == StepsLeft(25, 3, (), is_part=True)


def test_a_loop_around_fit_has_an_unknown_end(make_run):
    events = [(0, plan(epochs=1, steps=10)), (0, Epoch(0)), (10, Fact(PLANNED_STEPS_OVER))]
    again = [(10, plan(epochs=1, steps=10)), (10, Epoch(1))]
    assert left(make_run, 15, *events, *again) is None


def test_a_declared_end_counts_as_the_programs_steps_do(make_run):
    assert left(make_run, 40, (0, plan(until=100))) == StepsLeft(60)
    by_tens = {"numbers": np.arange(500, 900, 10)}
    assert left(make_run, 40, (0, plan(until=1001)), **by_tens) == StepsLeft(11)
    assert left(make_run, 40, (0, plan(until=40))) is None


def test_a_resumed_run_has_the_plan_of_its_last_process(make_run):
    sessions = [Session("aa", 0, 1.7e9, 3, 0), Session("bb", 30, 1.7e9 + 100, 3, 0)]
    events = [(0, plan(epochs=5, steps=100)), (0, Epoch(0))]
    assert left(make_run, 60, *events, sessions=sessions) is None
    again = [*events, (30, plan(epochs=4, steps=100)), (30, Epoch(1))]
    assert left(make_run, 60, *again, sessions=sessions) == StepsLeft(370, 4)


def test_a_stopped_monitor_leaves_nothing(make_run):
    run = make_run(np.ones(30), events=[(0, plan(until=100))])
    assert find_steps_left(run) == StepsLeft(70)
    assert find_steps_left(replace(run, is_ended=True)) is None
