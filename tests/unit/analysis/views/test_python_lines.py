"""The lines of the program that a step spends its time in: first samples against the newest."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.views.python_lines import find_python_lines
from tb_slowdown_plugin.records.types import Fact


def stack(place, samples, of=60.0):
    return Fact("python_stack", place, {"samples": samples, "of": of})


def test_shares_and_seconds_before_and_now_the_largest_growth_first(make_run):
    period = np.concatenate([np.full(101, 0.010), np.full(499, 0.050)])
    run = make_run(
        period,
        numbers=np.arange(1_000, 1_600),
        events=(
            (100, stack("step (train.py:20)", 48.0)), (100, stack("total (train.py:8)", 6.0)),
            (599, stack("step (train.py:20)", 12.0)), (599, stack("total (train.py:8)", 42.0)),
        ),
    )  # fmt: skip
    found = find_python_lines(run)
    assert found is not None
    assert (found.before_steps, found.after_steps) == ((1_000, 1_100), (1_100, 1_599))
    assert (found.before_samples, found.after_samples) == (60, 60)
    grown, shrunk = found.lines
    assert (grown.place, grown.location) == ("total (train.py:8)", "train.py:8")
    assert (grown.before_fraction, grown.after_fraction) == pytest.approx((0.1, 0.7))
    assert (grown.before_seconds, grown.after_seconds) == pytest.approx((0.001, 0.035))
    assert (shrunk.before_seconds, shrunk.after_seconds) == pytest.approx((0.008, 0.010))


def test_one_set_of_samples_has_nothing_before_it(make_run):
    run = make_run(np.full(50, 0.01), events=((49, stack("a (b.py:1)", 45.0)),))
    found = find_python_lines(run)
    assert found is not None
    assert (found.before_steps, found.before_samples) == (None, 0)
    (line,) = found.lines
    assert (line.before_fraction, line.before_seconds) == (None, None)
    assert line.after_fraction == 0.75


def test_of_few_samples_several_sets_are_one_end(make_run):
    """The same ends as the sentences on places that grow have."""
    samples = (9.0, 6.0, 3.0, 3.0, 0.0)
    events = [(10 * i, stack("a (b.py:1)", seen, of=10.0)) for i, seen in enumerate(samples, 1)]
    found = find_python_lines(make_run(np.full(60, 0.1), events=events))
    assert found is not None
    assert (found.before_samples, found.after_samples) == (20, 20)
    assert (found.before_steps, found.after_steps) == ((0, 20), (30, 50))
    (line,) = found.lines
    assert (line.before_fraction, line.after_fraction) == (0.75, 0.15)


def test_the_sets_of_a_long_step_are_added_up(make_run):
    thread = Fact("thread_stack", "load (b.py:7)", {"samples": 10.0, "of": 10.0})
    sets = [stack("a (b.py:1)", 7.0, 10.0), stack("a (b.py:2)", 3.0, 10.0), thread]
    other = [stack("a (b.py:3)", 10.0, 10.0), stack("a (b.py:1)", 20.0, 20.0)]
    run = make_run(np.full(50, 0.01), events=tuple((49, fact) for fact in [*sets, *other]))
    found = find_python_lines(run)
    assert found is not None
    assert found.after_samples == 40
    shares = {line.place: line.after_fraction for line in found.lines}
    assert shares == {"a (b.py:1)": 27 / 40, "a (b.py:2)": 3 / 40, "a (b.py:3)": 10 / 40}


def test_samples_after_the_last_step_are_of_no_step(make_run):
    sets = (stack("fit (b.py:1)", 30.0, 30.0), *[stack("use (b.py:9)", 60.0)] * 9)
    run = make_run(np.full(50, 0.01), events=tuple((50, fact) for fact in sets))
    found = find_python_lines(run)
    assert found is not None
    assert [(line.place, line.after_fraction) for line in found.lines] == [("fit (b.py:1)", 1.0)]


def test_of_long_and_short_steps_a_line_has_its_share_of_their_mean(make_run):
    period = np.tile([0.1, 0.1, 1.0], 20)
    period[[0, 30]] = 60.0  # warm-up, and a stall
    run = make_run(period, events=((59, stack("a (b.py:1)", 30.0)),))
    found = find_python_lines(run)
    assert found is not None
    assert found.lines[0].after_seconds == pytest.approx(0.5 * np.mean([0.1, 0.1, 1.0]))


def test_a_line_that_is_gone_is_shown_and_few_lines_are(make_run):
    gone = [(10, stack(f"f{n} (a.py:{n + 1})", float(n))) for n in range(1, 12)]
    run = make_run(np.full(50, 0.01), events=(*gone, (49, stack("now (a.py:99)", 60.0))))
    found = find_python_lines(run)
    assert found is not None
    assert len(found.lines) == 8
    assert found.lines[0].place == "now (a.py:99)"
    assert found.lines[-1].place == "f11 (a.py:12)"
    assert found.lines[-1].after_fraction == 0.0


def test_code_of_a_notebook_has_no_location_and_no_samples_no_view(make_run):
    run = make_run(np.full(50, 0.01), events=((49, stack("<module> (<stdin>:3)", 60.0)),))
    found = find_python_lines(run)
    assert found is not None
    assert [(line.place, line.location) for line in found.lines] == [("<stdin>:3", "")]
    assert find_python_lines(make_run(np.full(50, 0.01))) is None
    assert find_python_lines(make_run([], events=((0, stack("a (b.py:1)", 3.0)),))) is None
