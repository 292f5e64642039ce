"""Work in Python has an account where a function does it in a quarter of the samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.flat_python import with_flat_python
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PERIOD = np.full(SIZE, 0.1)
IN_GRAPH, GRADIENTS, BOTH = 0b10, 0b1, 0b11


def samples(line, eager, of=20, function="count", whole=None):
    numbers = {"samples": float(whole or eager), "of": float(of), "no_graph": float(eager)}
    return Fact("python_stack", f"{function} (train.py:{line})", numbers)


def told(sets):
    """Each line of a set follows the one before in the same row."""
    return [(10 + number, fact) for number, each in enumerate(sets) for fact in each]


STEADY = [(samples(7, 8, whole=10), samples(8, 4))] * 5


def run_of(make_run, sets, ran):
    run = make_run(PERIOD, events=told(sets))
    return replace(run, steps=replace(run.steps, ran=np.full(SIZE, ran), calls=np.ones(SIZE, int)))


def test_a_function_takes_its_share_of_the_samples(make_run):
    made = with_flat_python(run_of(make_run, STEADY, IN_GRAPH), {})
    assert list(made) == ["eager:count (train.py:7)"]
    np.testing.assert_allclose(made["eager:count (train.py:7)"], 0.07)


@pytest.mark.parametrize(
    ("function", "share"), [("count", 0.6), ("<module>", 0.5)], ids=["of a function", "of a script"]
)
def test_what_graphs_take_there_and_other_lines_of_a_script_are_not_its_own(
    make_run, function, share
):
    other = Fact("python_stack", f"{function} (train.py:8)", {"samples": 2.0, "of": 20.0})
    graph = Fact(
        "python_stack", f"{function} (train.py:9)", {"samples": 6.0, "of": 20.0, "graph": 6.0}
    )
    sets = [(samples(7, 10, function=function), other, graph)] * 5
    made = with_flat_python(run_of(make_run, sets, IN_GRAPH), {})
    np.testing.assert_allclose(made[f"eager:{function} (train.py:7)"], share * 0.1)


@pytest.mark.parametrize(
    ("sets", "ran"),
    [
        ([(samples(7, 3), samples(8, 1))] * 5, IN_GRAPH),
        ([(samples(7, 20),), *[(samples(7, 0),)] * 4], IN_GRAPH),
        ([(samples(7, 6, whole=14),)] * 5, IN_GRAPH),
        ([], IN_GRAPH),
        (STEADY, GRADIENTS),
        (STEADY, BOTH),
        (STEADY, 0),
    ],
    ids=[
        "seldom",
        "at one time",
        "other work",
        "no samples",
        "eager training",
        "partly eager",
        "nothing known",
    ],
)
def test_what_is_not_sure_or_the_model_itself_has_none(make_run, sets, ran):
    assert not with_flat_python(run_of(make_run, sets, ran), {})


def own(line, samples, of=20, whole=None, function="sample", **more):
    numbers = {"samples": float(whole or samples), "of": float(of), "own": float(samples)}
    return Fact("python_stack", f"{function} (train.py:{line})", numbers | more)


def test_python_of_the_program_takes_the_samples_in_which_it_was_in_no_library(make_run):
    sets = [(own(7, 6, whole=10), own(8, 2))] * 5
    for ran in (IN_GRAPH, GRADIENTS, 0):
        made = with_flat_python(run_of(make_run, sets, ran), {})
        assert list(made) == ["python:sample (train.py:7)"]
        np.testing.assert_allclose(made["python:sample (train.py:7)"], 0.04)


def test_lists_made_tensors_have_an_account_with_or_without_a_graph(make_run):
    numbers = {"samples": 8.0, "of": 20.0, "no_graph": 8.0, "converts": 7.0}
    sets = [(Fact("python_stack", "draw (train.py:7)", numbers),)] * 5
    for ran in (IN_GRAPH, GRADIENTS):
        made = with_flat_python(run_of(make_run, sets, ran), {})
        assert list(made) == ["converted:draw (train.py:7)"]
        np.testing.assert_allclose(made["converted:draw (train.py:7)"], 0.035)


@pytest.mark.parametrize(("seen", "is_told"), [(4, False), (8, True)])
def test_of_arrays_made_tensors_a_quarter_is_needed(make_run, seen, is_told):
    numbers = {"samples": 8.0, "of": 20.0, "copies": float(seen)}
    sets = [(Fact("python_stack", "draw (train.py:7)", numbers),)] * 5
    made = with_flat_python(run_of(make_run, sets, GRADIENTS), {})
    assert list(made) == ["copied:draw (train.py:7)"] * is_told


@pytest.mark.parametrize(("seen", "is_told"), [(2, False), (4, True)])
def test_of_lists_a_tenth_is_enough(make_run, seen, is_told):
    numbers = {"samples": 8.0, "of": 20.0, "no_graph": 8.0, "converts": float(seen)}
    sets = [(Fact("python_stack", "draw (train.py:7)", numbers),)] * 5
    made = with_flat_python(run_of(make_run, sets, GRADIENTS), {})
    assert bool(made) == is_told


@pytest.mark.parametrize(("seen", "is_told"), [((3, 3, 2), False), ((4, 3, 3), True)])
def test_of_few_samples_a_quarter_may_be_by_chance(make_run, seen, is_told):
    """A function of 12% was in 7 of 30 samples of a run of three seconds."""
    sets = [(own(7, each, of=10),) for each in seen]
    assert bool(with_flat_python(make_run(PERIOD, events=told(sets)), {})) is is_told


@pytest.mark.parametrize(
    ("seen", "told"),
    [
        ((8, 4, 1), ["sample (train.py:7)", "plot (train.py:30)"]),
        ((4, 4, 4), []),  # none has a quarter
    ],
)
def test_beside_a_function_with_a_quarter_others_need_a_tenth(make_run, seen, told):
    functions = [("sample", 7), ("plot", 30), ("log", 50)]
    of_set = tuple(
        own(line, n, function=name) for (name, line), n in zip(functions, seen, strict=True)
    )
    made = with_flat_python(run_of(make_run, [of_set] * 5, IN_GRAPH), {})
    assert list(made) == [f"python:{each}" for each in told]


def test_a_function_takes_what_those_that_it_calls_take(make_run):
    called = {"by:sample (train.py:3)": 5.0}
    sets = [(own(7, 3), own(20, 5, function="weight", **called))] * 5
    made = with_flat_python(run_of(make_run, sets, IN_GRAPH), {})
    assert list(made) == ["python:weight (train.py:20)"]
    np.testing.assert_allclose(made["python:weight (train.py:20)"], 0.04)


def test_a_function_whose_seconds_are_known_has_no_second_account(make_run):
    run = run_of(make_run, [(own(7, 10),)] * 5, IN_GRAPH)
    known = {"file_write:sample (train.py:9)": np.full(SIZE, 0.01)}
    assert with_flat_python(run, known) == known


def test_both_kinds_of_work_take_no_more_than_the_step(make_run):
    sets = [(samples(7, 10), own(9, 10))] * 5
    made = with_flat_python(run_of(make_run, sets, IN_GRAPH), {"gc": np.full(SIZE, 0.04)})
    assert made["eager:count (train.py:7)"] == pytest.approx(0.05)
    assert made["python:sample (train.py:9)"] == pytest.approx(0.01)


def rising(make_run, shares):
    """A run whose steps get 4 times as long, with a set of 20 samples in each part of it."""
    period = np.linspace(0.1, 0.4, SIZE)
    rows = np.linspace(SIZE / len(shares), SIZE - 1, len(shares)).astype(int)
    events = [(row, samples(7, round(20 * share))) for row, share in zip(rows, shares, strict=True)]
    run = make_run(period, events=events)
    return replace(run, steps=replace(run.steps, ran=np.full(SIZE, IN_GRAPH)))


def test_a_function_that_takes_ever_longer_has_none(make_run):
    # What it works on grows: to start fewer operations would change little.
    assert not with_flat_python(rising(make_run, [0.5, 0.6, 0.7, 0.75, 0.8, 0.85]), {})


def test_a_function_whose_share_falls_as_steps_get_longer_has_its_account(make_run):
    made = with_flat_python(rising(make_run, [0.8, 0.7, 0.6, 0.5, 0.4, 0.3]), {})
    assert list(made) == ["eager:count (train.py:7)"]


def test_several_sets_of_one_long_step_and_sets_of_no_samples_are_no_growth(make_run):
    run = rising(make_run, [0.5, 0.6, 0.7, 0.75, 0.8, 0.85])
    ended = [(SIZE, samples(7, 9)), (SIZE, samples(7, 19)), (SIZE, samples(7, 1, of=0))]
    more = make_run(run.steps.period_seconds, events=told([])).events + tuple(
        replace(run.events[-1], row=row, what=fact) for row, fact in ended
    )
    assert not with_flat_python(replace(run, events=run.events + more), {})
    assert with_flat_python(replace(run, events=run.events[:2]), {})


def feeds(line, samples, of=20, function="batches"):
    numbers = {"samples": float(samples), "of": float(of), "feeds": float(samples)}
    return Fact("python_stack", f"{function} (train.py:{line})", numbers)


def test_what_feeds_the_loop_counts_in_all_its_functions(make_run):
    sets = [(feeds(7, 2), feeds(20, 3, function="flip"), samples(9, 0, whole=15))] * 5
    made = with_flat_python(run_of(make_run, sets, IN_GRAPH), {})
    assert list(made) == ["fed_input:flip (train.py:20)"]
    np.testing.assert_allclose(made["fed_input:flip (train.py:20)"], 0.025)


def test_less_than_a_pipeline_may_be_waited_for_has_no_account(make_run):
    sets = [(feeds(7, 2), samples(9, 0, whole=18))] * 5
    assert not with_flat_python(run_of(make_run, sets, IN_GRAPH), {})


def test_a_few_steps_that_are_longer_by_as_much_have_all_of_it(make_run):
    period = np.where(np.arange(SIZE) % 50 == 49, 2.1, 0.1)  # 16 of 56 s in 8 of 400 steps
    run = make_run(period, events=told([(own(7, 6, whole=6),)] * 5))
    made = with_flat_python(run, {})
    expected = np.where(period > 1, 2.0, 0.0)
    np.testing.assert_allclose(made["python:sample (train.py:7)"], expected)
