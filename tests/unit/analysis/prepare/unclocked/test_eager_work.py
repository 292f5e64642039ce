"""What is computed without a graph is found by samples: on batches, or on single rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.eager_work import (
    find_eager_functions,
    find_eager_work,
)
from tb_slowdown_plugin.records.types import Fact


def told(place, of=20.0, **numbers):
    return Fact("python_stack", place, {"samples": 5.0, "of": of, **numbers})


STEP = told("<module> (train.py:30)")


def run_of(make_run, *facts, sets=3, ran=2):
    events = [(10 * number, fact) for number in range(1, sets + 1) for fact in (STEP, *facts)]
    run = make_run(np.full(10 * sets, 0.1), events=events)
    return replace(run, steps=replace(run.steps, ran=np.full(10 * sets, ran)))


@pytest.mark.parametrize(("long", "on_batches"), [(1.0, True), (0.0, False)])
def test_all_lines_count_and_the_busiest_is_the_place(make_run, long, on_batches):
    run = run_of(
        make_run,
        told("net (train.py:8)", no_graph=1.0),
        told("<module> (train.py:31)", no_graph=3.0, long_operation=long),
    )
    work = find_eager_work(run)
    assert work is not None
    assert work.place == "train.py:31"
    assert work.seconds == pytest.approx(3.0 * 4 / 20)
    assert (work.samples, work.of, work.on_batches) == (12, 60, on_batches)


def test_samples_tell_seconds_within_a_factor_of_two(make_run):
    work = find_eager_work(run_of(make_run, told("net (train.py:8)", no_graph=4.0)))
    assert work is not None
    assert [work.takes(each) for each in (0.29, 0.31, 1.19, 1.21)] == [False, True, True, False]


def test_two_samples_say_nothing(make_run):
    rare = told("net (train.py:8)", no_graph=1.0)
    assert find_eager_work(run_of(make_run, rare, sets=2)) is None
    assert find_eager_work(run_of(make_run)) is None


def test_of_eager_training_it_is_no_work_beside_the_steps(make_run):
    busy = told("net (train.py:8)", no_graph=4.0)
    assert find_eager_work(run_of(make_run, busy, ran=1)) is None


def test_each_function_has_its_own_samples_and_the_busiest_is_first(make_run):
    run = run_of(
        make_run,
        told("write (plot.py:8)", no_graph=2.0),
        told("write (plot.py:9)", no_graph=2.0),
        told("draw (pool.py:5)", no_graph=3.0, long_operation=3.0),
    )
    assert [(each.place, each.samples, each.on_batches) for each in find_eager_functions(run)] == [
        ("write (plot.py:8)", 12, False),
        ("draw (pool.py:5)", 9, True),
    ]
