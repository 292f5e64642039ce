"""Lines in which a step spends more and more time, by samples of the stack."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.sampled_stacks import case_of, stack

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places.growing_places import (
    GrowingPlace,
    growing_places,
    main_line,
    tell_places,
)


def test_a_place_whose_share_grows_is_told(make_run):
    case = case_of(
        make_run,
        (10, stack("total (train.py:8)", 6.0)), (10, stack("step (train.py:20)", 50.0)),
        (500, stack("total (train.py:8)", 42.0)), (500, stack("step (train.py:20)", 18.0)),
    )  # fmt: skip
    grown = growing_places(case)
    ((place, shares, seconds, is_function),) = grown
    assert not is_function
    assert place == "total (train.py:8)"
    assert shares == pytest.approx((0.1, 0.7))
    assert seconds == pytest.approx((0.01, 0.07))
    assert list(tell_places(grown, [])) == [
        "`total (train.py:8)` is in 70.0% of the training thread's stack samples at the end, "
        "and in 10.0% at the start: about 70 ms per step, 10 ms before."
    ]


def test_a_place_that_had_the_step_before_grows_with_it(make_run):
    """Its share can't grow, its seconds do; those of the other place do not."""
    period = np.linspace(0.01, 0.1, 600)
    run = make_run(
        period,
        events=(
            (100, stack("total (train.py:8)", 48.0)), (100, stack("step (train.py:20)", 12.0)),
            (599, stack("total (train.py:8)", 54.0)), (599, stack("step (train.py:20)", 3.0)),
        ),
    )  # fmt: skip
    (grown,) = growing_places(Case(run, None, (), ()))
    assert grown.place == "total (train.py:8)"
    first, last = float(np.median(period[:101])), float(np.median(period[100:600]))
    assert grown.step_seconds == pytest.approx((0.8 * first, 0.9 * last), rel=0.02)


def test_where_no_line_grows_for_sure_its_function_does(make_run):
    """The samples are few, and on two lines; all of the loop's function grows with the step."""
    lines = {
        "Book.refresh (a.py:8)": (4.0, 6.0), "Book.refresh (a.py:7)": (3.0, 5.0),
        "main (a.py:20)": (7.0, 5.0), "main (a.py:21)": (6.0, 4.0),
    }  # fmt: skip
    events = [
        (row, stack(place, samples[at], of=20.0))
        for at, row in enumerate((100, 599))
        for place, samples in lines.items()
    ]
    period = np.where(np.arange(600) <= 100, 0.1, 0.15)
    (grown,) = growing_places(Case(make_run(period, events=events), None, (), ()))
    assert (grown.place, grown.is_function) == ("Book.refresh (a.py:8)", True)
    assert grown.shares == pytest.approx((0.35, 0.55))
    (told,) = tell_places([grown], [])
    assert told.startswith("The function of `Book.refresh (a.py:8)` is in 55.0% of")


def test_a_share_that_grows_of_a_step_that_shrinks_is_no_growth(make_run):
    events = (
        (100, stack("total (train.py:8)", 24.0)), (599, stack("total (train.py:8)", 48.0)),
    )  # fmt: skip
    run = make_run(np.linspace(0.1, 0.01, 600), events=events)
    assert growing_places(Case(run, None, (), ())) == []


def test_one_set_of_samples_tells_no_growth(make_run):
    assert growing_places(case_of(make_run, (10, stack("a (b.py:1)", 60.0)))) == []


def test_small_sets_of_a_short_run_are_put_together(make_run):
    """Ten samples say little: of four such sets the first two are held against the last two."""
    period = np.linspace(0.01, 0.1, 600)
    events = [
        (row, stack(place, samples, of=10.0))
        for row, least in ((100, 1.0), (200, 2.0), (400, 7.0), (599, 8.0))
        for place, samples in (("total (train.py:8)", least), ("step (train.py:20)", 10.0 - least))
    ]
    (grown,) = growing_places(Case(make_run(period, events=events), None, (), ()))
    assert grown.place == "total (train.py:8)"
    assert grown.shares == pytest.approx((0.15, 0.75))


def test_the_line_is_the_one_that_grows_else_the_one_of_most_samples(make_run):
    grown = GrowingPlace("f (train.py:8)", (0.1, 0.7), (0.01, 0.07))
    most = [stack("<module> (train.py:3)", 54.0)]
    assert main_line([grown], most).line == 8
    assert main_line([], most).line == 3
    assert main_line([], []) is None
