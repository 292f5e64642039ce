"""Lines of the program, by samples of its stack, and parts of the step."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.common.places import (
    GrowingPlace,
    growing_places,
    input_line,
    libraries_at,
    main_line,
    main_phase,
    place_of,
    places_of_most,
    places_of_python,
    share_of,
    starts_operations,
    tell_new_operations,
    tell_places,
)
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, of=60.0, **more):
    return Fact("python_stack", place, {"samples": samples, "of": of, **more})


def case_of(make_run, *events):
    return Case(make_run(np.full(600, 0.1), events=events), None, (), ())


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


def test_the_phase_that_holds_most_of_a_rise(find):
    shares = {"share:phase:load": 0.2, "share:phase:copy": 0.7, "share:backward": 0.1}
    finding = find("core", "drift", np.ones(5), **shares)
    assert main_phase(finding) == ("copy", 0.7)
    assert share_of(finding, "phase") == pytest.approx(0.9)


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


def test_a_place_starts_operations_where_most_of_its_samples_do(make_run):
    events = [
        (0, stack("f (train.py:8)", 10.0, eager=8.0)),
        (1, stack("f (train.py:8)", 10.0, eager=6.0)),
        (1, stack("g (train.py:9)", 10.0, eager=6.0)),
    ]
    case = Case(make_run(np.ones(2), events=events), None, (), ())
    assert starts_operations(case, "f (train.py:8)")
    assert not starts_operations(case, "g (train.py:9)")
    assert not starts_operations(case, "h (train.py:1)")


@pytest.mark.parametrize(
    ("functions", "told"),
    [
        (np.arange(50.0, 150.0), "50 functions at step 0 and 149 at step 99"),
        (np.arange(50.0, 90.0, 0.4), ""),
        (np.full(100, 50.0), ""),
    ],
)
def test_functions_that_are_ever_more_are_operations_on_a_list_that_grows(
    make_run, functions, told
):
    run = make_run(np.ones(100), signals={"eager_functions": functions})
    text = " ".join(tell_new_operations(Case(run, None, (), ()), (0, 99)))
    assert told in text
    assert bool(told) == bool(text)
