"""Lines of the program, by samples of its stack."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.sampled_stacks import case_of, stack

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places.sampled_places import (
    has_own_account,
    input_line,
    libraries_at,
    place_of,
    places_of_most,
    places_of_python,
)
from tb_slowdown_plugin.records.types import Fact


@pytest.mark.parametrize(
    ("where", "line"),
    [("Trainer.train (trainer.py:40)", 40), ("Trainer.save (trainer.py:9)", 64), ("", 64)],
    ids=["at the first", "at none of them", "no samples"],
)
def test_the_input_is_read_where_the_thread_is_most_else_at_the_newest_pass(make_run, where, line):
    """A pass over some pictures that are drawn is the newest one, and no step gets its batches."""
    events = [
        (0, Fact("input_at", "trainer.py:40", {})),
        (152, Fact("input_at", "train.py:64", {})),
    ]
    samples = [(100, stack(where, 12.0))] if where else []
    place = input_line(case_of(make_run, *events, *samples))
    assert place is not None
    assert place.line == line


@pytest.mark.parametrize(
    ("place", "is_timed"),
    [
        ("Slow.on_train_batch_end (cb.py:9)", True),
        ("act (agent.py:12)", True),
        ("act (agent.py:13)", False),
        ("Other.on_train_batch_end (cb.py:30)", False),
    ],
)
def test_what_has_an_account_is_a_line_that_is_called_or_a_callback(make_run, place, is_timed):
    took = np.full(60, 0.01)
    run = make_run(
        np.full(60, 0.1),
        accounts={"callback:Slow": took, "predict:act (agent.py:12)": took},
        events=[
            (0, Fact("callback_at", "callback:Slow Slow.on_train_batch_end (cb.py:8)")),
            (0, Fact("callback_at", "callback:Other Other.on_train_batch_end (cb.py:29)")),
        ],
    )
    assert has_own_account(Case(run, None, (), ()), place) is is_timed


def test_a_place_of_nearly_all_samples_is_in_the_lost_time(make_run):
    case = case_of(make_run, (10, stack("a (b.py:1)", 54.0)), (10, stack("c (d.py:1)", 6.0)))
    assert [fact.subject for fact in places_of_most(case, 0.3)] == ["a (b.py:1)"]
    assert places_of_most(case, 0.1) == []


def test_samples_from_before_the_last_ones_say_nothing_of_a_loss(make_run):
    events = [(row, stack("a (b.py:1)", 58.0)) for row in (10, 100)]
    events += [(row, stack("c (d.py:1)", 20.0)) for row in (300, 500)]
    assert places_of_most(case_of(make_run, *events), 0.3) == []
    assert len(places_of_most(case_of(make_run, *events[:2]), 0.3)) == 1


def test_python_at_the_end_is_of_the_function_that_most_of_it_ran_in(make_run):
    def events(*last):
        early = [(row, stack("step (a.py:9)", 20.0, of=20.0)) for row in (10, 100)]
        return case_of(make_run, *early, *((500, each) for each in last))

    smoothed = [
        stack("smoothed (b.py:12)", 7.0, of=20.0, own=2.0),
        stack("smoothed (b.py:13)", 6.0, of=20.0, own=3.0),
    ]
    found = places_of_python(events(*smoothed, stack("log (c.py:1)", 7.0, of=20.0, own=1.0)))
    assert [fact.subject for fact in found] == ["smoothed (b.py:13)", "smoothed (b.py:12)"]
    assert places_of_python(events(*smoothed, stack("log (c.py:1)", 7.0, of=20.0, own=5.0))) == []
    assert places_of_python(events(smoothed[0])) == []
    (writes,) = places_of_python(events(stack("dump (b.py:14)", 7.0, of=20.0, waits_writing=6.0)))
    assert writes.subject == "dump (b.py:14)"
    script = [stack(f"<module> (b.py:{n})", 7.0, of=20.0, own=2.0) for n in (1, 2)]
    assert places_of_python(events(*script)) == []
    assert places_of_python(case_of(make_run)) == []


def test_packages_in_half_of_the_samples_are_its_libraries(make_run):
    more = {"in:pandas": 40.0, "in:json": 3.0}
    case = case_of(make_run, (10, stack("a (b.py:1)", 54.0, **more)))
    assert libraries_at(case, ["a (b.py:1)"]) == {"pandas"}


def test_code_of_a_script_is_in_no_function():
    assert place_of(stack("<module> (train.py:3)", 1.0)) == "train.py:3"
    assert place_of(stack("f (train.py:3)", 1.0)) == "f (train.py:3)"
