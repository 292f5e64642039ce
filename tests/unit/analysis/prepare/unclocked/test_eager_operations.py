"""Operations that Python starts one by one have an account where they are in most samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.eager_operations import with_eager_operations
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PERIOD = np.full(SIZE, 0.1)
IN_GRAPH, GRADIENTS, BOTH = 0b10, 0b1, 0b11


def samples(line, eager, of=20, function="count", whole=None):
    numbers = {"samples": float(whole or eager), "of": float(of), "eager": float(eager)}
    return Fact("python_stack", f"{function} (train.py:{line})", numbers)


def told(sets):
    """Each line of a set follows the one before in the same row."""
    return [(10 + number, fact) for number, each in enumerate(sets) for fact in each]


STEADY = [(samples(7, 8, whole=10), samples(8, 4))] * 5


def run_of(make_run, sets, ran):
    run = make_run(PERIOD, events=told(sets))
    return replace(run, steps=replace(run.steps, ran=np.full(SIZE, ran), calls=np.ones(SIZE, int)))


def test_a_function_takes_its_share_of_the_samples(make_run):
    made = with_eager_operations(run_of(make_run, STEADY, IN_GRAPH), {})
    assert list(made) == ["eager:count (train.py:7)"]
    np.testing.assert_allclose(made["eager:count (train.py:7)"], 0.07)


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
    assert not with_eager_operations(run_of(make_run, sets, ran), {})


def rising(make_run, shares):
    """A run whose steps get 4 times as long, with a set of 20 samples in each part of it."""
    period = np.linspace(0.1, 0.4, SIZE)
    rows = np.linspace(SIZE / len(shares), SIZE - 1, len(shares)).astype(int)
    events = [(row, samples(7, round(20 * share))) for row, share in zip(rows, shares, strict=True)]
    run = make_run(period, events=events)
    return replace(run, steps=replace(run.steps, ran=np.full(SIZE, IN_GRAPH)))


def test_a_function_that_takes_ever_longer_has_none(make_run):
    # What it works on grows: to start fewer operations would change little.
    assert not with_eager_operations(rising(make_run, [0.5, 0.6, 0.7, 0.75, 0.8, 0.85]), {})


def test_a_function_whose_share_falls_as_steps_get_longer_has_its_account(make_run):
    made = with_eager_operations(rising(make_run, [0.8, 0.7, 0.6, 0.5, 0.4, 0.3]), {})
    assert list(made) == ["eager:count (train.py:7)"]


def test_several_sets_of_one_long_step_and_sets_of_no_samples_are_no_growth(make_run):
    run = rising(make_run, [0.5, 0.6, 0.7, 0.75, 0.8, 0.85])
    ended = [(SIZE, samples(7, 9)), (SIZE, samples(7, 19)), (SIZE, samples(7, 1, of=0))]
    more = make_run(run.steps.period_seconds, events=told([])).events + tuple(
        replace(run.events[-1], row=row, what=fact) for row, fact in ended
    )
    assert not with_eager_operations(replace(run, events=run.events + more), {})
    assert with_eager_operations(replace(run, events=run.events[:2]), {})
