"""Validation by hand is told and not lost; small operations that take a quarter of a run are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 800
EVERY = 40
STEP = 0.010


@pytest.fixture
def report_of(make_run):
    """Of steps of a graph, with such seconds beside every fortieth, of which samples tell."""

    def report(seconds, samples, *, long=0.0, grows=1.0):
        rows = np.arange(SIZE)
        extra = np.where(rows % EVERY == EVERY - 1, seconds * np.linspace(1, grows, SIZE), 0.0)
        inside = {"samples": samples, "of": 20.0, "no_graph": samples, "long_operation": long}
        sets = [
            (row, Fact("python_stack", place, numbers))
            for row in range(100, SIZE + 1, 100)
            for place, numbers in (
                ("<module> (train.py:30)", {"samples": 20.0 - samples, "of": 20.0}),
                ("evaluate (train.py:12)", inside),
            )
        ]
        run = make_run(STEP + extra, thread_cpu=STEP + extra, events=sets)
        steps = replace(run.steps, ran=np.full(SIZE, 2), calls=np.ones(SIZE, int))
        return account_for(replace(run, steps=steps)).report

    return report


def test_a_small_part_of_the_run_is_told_with_its_line(report_of):
    report = report_of(0.080, 3.0)  # of 0.40 s every 40 steps; by samples 15% of the run
    assert (report.verdict, report.causes, report.lost_seconds) == ("healthy", (), 0.0)
    (note,) = [each for each in report.notes if "without a graph" in each]
    assert note.startswith(
        "Beside its steps the program computed for 1.6 s, 16.7% of the run, without a graph in "
        "evaluate (train.py:12): 80 ms each (median), every 40 steps."
    )
    assert report.headline == "Healthy. No slowdown found in 9.6 s."


def at_once_in_all_steps(make_run, samples, long, ran=2):
    inside = {"samples": samples, "of": 20.0, "no_graph": samples, "long_operation": long}
    facts = [
        (row, Fact("python_stack", "draw (train.py:17)", inside))
        for row in range(100, SIZE + 1, 100)
    ]
    run = make_run(np.full(SIZE, STEP), thread_cpu=np.full(SIZE, STEP), events=facts)
    steps = replace(run.steps, ran=np.full(SIZE, ran), calls=np.ones(SIZE, int))
    return account_for(replace(run, steps=steps)).report


def test_operations_that_go_on_in_all_steps_are_told_and_not_lost(make_run):
    report = at_once_in_all_steps(make_run, 10.0, 6.0)
    assert (report.verdict, report.causes, report.lost_seconds) == ("healthy", (), 0.0)
    assert report.headline == (
        "Healthy. No slowdown found in 8 s. 50% of it went to operations outside of its graph, in "
        "draw (train.py:17)."
    )
    (note,) = [each for each in report.notes if "outside of one" in each]
    assert "in draw (train.py:17): 80 of 160 samples" in note


@pytest.mark.parametrize(
    ("samples", "long", "ran"),
    [(4.0, 3.0, 2), (10.0, 6.0, 1)],
    ids=["a fifth", "steps that run no graph"],
)
def test_less_than_a_quarter_and_eager_steps_are_not_told_so(make_run, samples, long, ran):
    report = at_once_in_all_steps(make_run, samples, long, ran)
    assert "outside of" not in " ".join([report.headline, *report.notes])


def test_more_than_that_is_the_plan_where_operations_compute_much_at_once(report_of):
    report = report_of(0.400, 10.0, long=6.0)
    assert (report.verdict, report.causes, report.lost_seconds) == ("healthy", (), 0.0)
    assert report.headline == (
        "Healthy. No slowdown found in 16.0 s. 50% of it went to work without a graph beside its "
        "steps, in evaluate (train.py:12)."
    )


def test_small_operations_that_take_as_much_are_python_overhead(report_of):
    report = report_of(0.400, 10.0)
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(8.0, rel=0.05)
    assert "for about 400 ms every 40 steps." in cause.summary
    assert cause.place is not None
    assert (cause.place.file, cause.place.line) == ("train.py", 12)


def test_what_grows_is_no_plan(report_of):
    report = report_of(0.080, 5.0, long=5.0, grows=4.0)
    assert report.verdict == "slowdown"


def test_what_samples_have_seen_for_another_time_explains_nothing(report_of):
    report = report_of(0.400, 3.0, long=3.0)
    assert (report.verdict, report.causes) == ("slowdown", ())
    assert report.unexplained_seconds == pytest.approx(8.0, rel=0.05)
