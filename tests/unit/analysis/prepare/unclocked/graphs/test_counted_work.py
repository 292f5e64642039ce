"""Unused gradients take their share of the steps that compute them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.graphs.counted_work import with_counted_work
from tb_slowdown_plugin.records.types import Fact

SIZE = 100
PERIOD = np.full(SIZE, 0.1)
SPAN = np.arange(SIZE)
PLACE = "Head.train (probe.py:84)"


def fact(**numbers):
    return Fact("wide_gradient", PLACE, numbers)


def step_function(bit, name="Head.train"):
    return (0, Fact("step_function", f"{name} (probe.py:79)", {"bit": float(bit)}))


def test_a_share_of_what_no_account_has(make_run):
    run = make_run(PERIOD, events=[(2, fact(share=0.5))])
    made = with_counted_work(run, {"gc": np.full(SIZE, 0.02)})
    assert made[f"unused_gradients:{PLACE}"] == pytest.approx(0.04)


def test_only_steps_that_run_the_function_have_them(make_run):
    """The first call makes variables, and is of another trace."""
    events = [step_function(3), step_function(4, "Head.train no. 2"), (61, fact(share=0.5))]
    run = make_run(PERIOD, events=events)
    ran = np.where(np.arange(SIZE) < 60, 0b10, 0b10000)
    ran[60] = 0b1000
    made = with_counted_work(replace(run, steps=replace(run.steps, ran=ran)), {})
    (seconds,) = made.values()
    assert not seconds[:60].any()
    assert seconds[60:] == pytest.approx(0.05)


def test_where_no_step_names_the_function_all_later_ones_have_them(make_run):
    (seconds,) = with_counted_work(make_run(PERIOD, events=[(40, fact(share=0.5))]), {}).values()
    assert not seconds[:40].any()
    assert seconds[40:] == pytest.approx(0.05)


@pytest.mark.parametrize("numbers", [{}, {"share": float("nan")}, {"share": 0.0}])
def test_what_was_not_counted_has_no_account(make_run, numbers):
    assert not with_counted_work(make_run(PERIOD, events=[(2, fact(**numbers))]), {})


def test_since_when_it_is_so_is_told(make_run):
    """A factor that became zero at the 30th step, and ceased to be at the 70th."""
    facts = [(33, fact(share=0.5, since=30)), (75, fact(share=0.0, since=70))]
    (seconds,) = with_counted_work(make_run(PERIOD, events=facts), {}).values()
    assert seconds == pytest.approx(np.where((SPAN >= 30) & (SPAN < 70), 0.05, 0.0))


def test_a_function_made_again_has_its_own(make_run):
    events = [
        step_function(1),
        step_function(2, "Head.train no. 2"),
        (61, fact(share=0.5, since=40)),
    ]
    run = make_run(PERIOD, events=events)
    ran = np.where(SPAN < 40, 0b10, 0b100)
    (seconds,) = with_counted_work(replace(run, steps=replace(run.steps, ran=ran)), {}).values()
    assert seconds == pytest.approx(np.where(SPAN >= 40, 0.05, 0.0))


@pytest.mark.parametrize(("there", "seconds"), [(12.0, 0.04), (2.0, None)])
def test_of_calls_that_one_could_spare_samples_tell_what_they_take(make_run, there, seconds):
    """The line is in 12 of 20 samples; two of three calls are spared."""
    stack = Fact("python_stack", PLACE, {"samples": 15.0, "eager_training": there, "of": 20.0})
    run = make_run(PERIOD, events=[(2, fact(repeated=3.0)), (40, stack)])
    made = with_counted_work(run, {})
    if seconds is None:
        assert made == {}
    else:
        assert made[f"unused_gradients:{PLACE}"][3:] == pytest.approx(seconds)


def test_of_calls_that_the_graph_tells_its_share_is_taken(make_run):
    run = make_run(PERIOD, events=[(2, fact(repeated=2.0, share=0.25, since=0))])
    (seconds,) = with_counted_work(run, {}).values()
    assert seconds == pytest.approx(0.025)


def test_of_a_call_of_its_own_samples_tell_what_a_pass_takes(make_run):
    """Of 20 samples 8 are in the line, and 4 in what trains."""
    told = {"called": 1.0, "after": 48.0, "since": 3.0}
    stacks = [
        (40, Fact("python_stack", place, {"samples": count, kind: count, "of": 20.0}))
        for place, kind, count in (
            (PLACE, "no_graph", 8.0),
            ("train (probe.py:20)", "graph", 4.0),
        )
    ]
    run = make_run(PERIOD, events=[(2, Fact("repeated_pass", PLACE, told)), *stacks])
    waited = {"input_wait": np.full(SIZE, 0.02)}
    made = with_counted_work(run, waited)
    assert made[f"repeated_pass:{PLACE}"][3:] == pytest.approx(0.04)
    assert made[f"repeated_pass:{PLACE}"][:3] == pytest.approx(0.0)


TABLE = {"rows": 200_000.0, "looked_up": 0.0, "looked_up_per_item": 1.0, "work": 600.0,
         "rest": 100.0, "rest_per_item": 0.5, "share": 0.8, "regularized": 0.0}  # fmt: skip


@pytest.mark.parametrize(
    ("items", "share"),
    [(np.nan, 0.8), (200.0, 0.75), (1_000.0, 0.5), (60_000.0, 0.0)],
    ids=["not known", "few", "more work of the model", "of many rows"],
)
def test_a_whole_table_takes_its_share_by_the_examples_of_a_step(make_run, items, share):
    run = make_run(PERIOD, events=[(2, Fact("whole_table", "Table.call (towers.py:41)", TABLE))])
    steps = replace(run.steps, items=np.full(SIZE, items))
    made = with_counted_work(replace(run, steps=steps), {})
    if share:
        assert made["whole_tables:Table.call (towers.py:41)"][3:] == pytest.approx(share * 0.1)
    else:
        assert made == {}
