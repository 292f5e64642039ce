"""Steps are compared with steps that do the same work, whether it was declared or is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.catalog.events import STEP_FUNCTION
from tb_slowdown_plugin.records.types import Fact

SIZE = 1200
ACT, LEARN = 0b10, 0b110
NAMES = [
    (0, Fact(STEP_FUNCTION, "act (dqn.py:12)", {"bit": 1.0})),
    (300, Fact(STEP_FUNCTION, "learn (dqn.py:30)", {"bit": 2.0})),
]


@pytest.fixture
def make(make_run):
    def make_with(seconds, ran, calls, items=None, kind=None):
        noise = 1 + 0.02 * np.random.default_rng(5).standard_normal(len(seconds))
        run = make_run(seconds * noise, events=NAMES)
        steps = replace(run.steps, ran=np.asarray(ran), calls=np.asarray(calls))
        if items is not None:
            steps = replace(steps, items=np.asarray(items, float))
        if kind is not None:
            steps = replace(steps, kind=np.asarray(kind), kinds=("act", "learn"))
        return replace(run, steps=steps)

    return make_with


def late(begins: int = 300) -> np.ndarray:
    return np.arange(SIZE) >= begins


def test_learning_that_begins_late_is_other_work_and_no_slowdown(make):
    run = make(np.where(late(), 0.020, 0.004), np.where(late(), LEARN, ACT), np.ones(SIZE, int))
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    (note,) = [each for each in report.notes if "different work" in each]
    assert "`act` and `learn` in 900 steps since step 300 (20 ms each)" in note
    assert "`act` in 300 steps (3.99 ms each)" in note


def test_the_same_times_without_functions_are_a_slowdown(make):
    nothing = np.zeros(SIZE, int)
    run = make(np.where(late(), 0.020, 0.004), nothing, nothing)
    assert account_for(run).report.verdict == "slowdown"


def test_a_slowdown_inside_of_a_kind_is_found_and_its_seconds_are_right(make):
    alternating = np.arange(SIZE) % 2 == 1
    seconds = np.where(alternating, 0.020, 0.004) * np.where(late(600), 1.5, 1.0)
    run = make(seconds, np.where(alternating, LEARN, ACT), np.ones(SIZE, int))
    report = account_for(run).report
    assert report.verdict == "slowdown"
    assert report.lost_seconds == pytest.approx(600 * 0.012 * 0.5, rel=0.1)


def test_episodes_that_call_more_often_are_longer_and_not_slower(make):
    calls = np.linspace(5, 60, SIZE).astype(int)
    run = make(0.002 + 0.001 * calls, np.full(SIZE, ACT), calls)
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    assert any("call their functions 5 to 60 times" in note for note in report.notes)


def test_calls_that_get_slower_are_found_beside_episodes_of_all_lengths(make):
    calls = np.random.default_rng(3).integers(5, 60, SIZE)
    run = make((0.002 + 0.001 * calls) * np.where(late(600), 1.5, 1.0), np.full(SIZE, ACT), calls)
    report = account_for(run).report
    assert report.verdict == "slowdown"
    truth = float(np.sum((0.002 + 0.001 * calls)[600:] * 0.5))
    assert report.lost_seconds == pytest.approx(truth, rel=0.1)


def test_what_is_declared_wins(make):
    found = find_kinds(
        make(np.full(SIZE, 0.01), np.where(late(), LEARN, ACT), np.ones(SIZE, int), kind=1 - late())
    )
    assert not found.are_found
    assert found.kind.tolist() == (1 - late()).tolist()
    calls = np.linspace(5, 60, SIZE).astype(int)
    found = find_kinds(make(np.full(SIZE, 0.01), np.full(SIZE, ACT), calls, items=np.full(SIZE, 8)))
    assert (found.by_calls.any(), found.items[0]) == (False, 8.0)


def test_a_few_steps_that_call_far_more_are_other_work(make):
    """Every 300th step tries what was learned: 90 calls, 100 ms."""
    tries = np.arange(SIZE) % 300 == 299
    calls = np.where(tries, 90, 2)
    run = make(np.where(tries, 0.100, 0.002), np.full(SIZE, ACT), calls)
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    same = make(np.where(tries, 0.100, 0.002), np.full(SIZE, ACT), np.full(SIZE, 2))
    assert account_for(same).report.verdict == "slowdown"


def test_batches_of_one_size_with_longer_sequences_are_other_work(make):
    length = np.repeat([192, 384, 640], [SIZE // 3, SIZE // 3, SIZE - 2 * (SIZE // 3)])
    once = np.ones(SIZE, int)
    run = make(0.001 + 0.00001 * length, np.full(SIZE, ACT), once, items=32 * once)
    run = replace(run, steps=replace(run.steps, argument_size=length))
    assert find_kinds(run).by_numbers.all()
    assert account_for(run).report.verdict == "healthy"


def test_a_run_in_which_each_step_does_the_same_is_of_one_kind(make):
    found = find_kinds(make(np.full(SIZE, 0.01), np.full(SIZE, ACT), np.ones(SIZE, int)))
    assert not found.are_found
    assert not found.by_calls.any()
    assert not found.kind.any()


def test_a_first_step_that_ran_nothing_or_built_something_is_no_kind_of_its_own(make):
    ran = np.full(SIZE, ACT)
    ran[0], ran[1] = 0, LEARN
    seconds = np.full(SIZE, 0.01)
    seconds[:2] = 1.0
    run = make(seconds, ran, np.ones(SIZE, int))
    assert not find_kinds(run).are_found
    report = account_for(run).report
    assert [cause.cause for cause in report.causes] == ["warm_up"]
    assert report.lost_seconds == pytest.approx(1.98, rel=0.05)


def test_a_few_steps_that_did_less_are_not_excused_for_taking_longer(make):
    ran = np.full(SIZE, LEARN)
    ran[::40] = ACT
    seconds = np.where(ran == ACT, 0.2, 0.01)
    assert account_for(make(seconds, ran, np.ones(SIZE, int))).report.lost_seconds > 5.0


def test_a_few_steps_that_also_ran_something_else_are_of_a_kind(make):
    ran = np.full(SIZE, ACT)
    ran[39::40] = LEARN
    found = find_kinds(make(np.where(ran == LEARN, 0.2, 0.01), ran, np.ones(SIZE, int)))
    assert found.are_found
    assert len(set(found.kind[39::40])) == 1


def sized(make, seconds, size):
    run = make(seconds, np.full(SIZE, LEARN), np.ones(SIZE, int))
    return replace(run, steps=replace(run.steps, argument_size=np.asarray(size)))


def test_a_few_steps_that_also_evaluate_leave_all_others_to_be_compared_by_their_size(make):
    """Stages of longer sequences, between which one is evaluated in one call, and then in two."""
    stage = np.repeat([1, 2, 4], SIZE // 3)
    ran, calls = np.full(SIZE, ACT), np.ones(SIZE, int)
    for row, more in ((SIZE // 3, 1), (2 * SIZE // 3, 2)):
        ran[row], calls[row] = LEARN, 1 + more
    run = make(0.010 * stage, ran, calls)
    run = replace(run, steps=replace(run.steps, argument_size=1_000 * stage))
    assert find_kinds(run).by_numbers.mean() > 0.99
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())


def test_each_kind_has_a_measure_of_its_own(make):
    """Every tenth step plays an episode first, longer and longer; the others learn from batches."""
    plays = np.arange(SIZE) % 10 == 0
    ran, length = np.where(plays, LEARN, ACT), 10 + np.arange(SIZE) // 2
    rows = np.where(np.arange(SIZE) % 7 == 3, 256, 512)
    seconds = np.where(plays, 0.001 * length, 0.0) + 0.002 + 4e-6 * rows
    run = make(seconds, ran, np.where(plays, length, 1))
    run = replace(run, steps=replace(run.steps, argument_size=rows))
    found = find_kinds(run)
    assert found.by_calls.tolist() == plays.tolist()
    assert found.by_numbers.tolist() == (~plays).tolist()
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    assert sum("are workload and aren't counted" in each for each in report.notes) == 1


def test_longer_arguments_are_more_work(make):
    length = np.repeat([512, 1024, 2048], SIZE // 3)
    run = sized(make, 0.004 + length * 5e-6, length)
    report = account_for(run).report
    assert (report.verdict, report.causes) == ("healthy", ())
    (note,) = [each for each in report.notes if "input of a step" in each]
    assert note.startswith("The largest input of a step is 4.0 times the smallest, by the sizes")


def test_episodes_of_any_length_are_compared_by_their_length(make):
    random = np.random.default_rng(2)
    length = (random.integers(40, 100, SIZE) * (1 + np.arange(SIZE) / 200)).astype(int)
    plain = sized(make, 0.002 + length * 1e-4, length)
    slower = sized(make, (0.002 + length * 1e-4) * np.where(late(600), 1.5, 1.0), length)
    assert account_for(plain).report.verdict == "healthy"
    assert account_for(slower).report.verdict == "slowdown"


def test_what_piles_up_in_an_argument_is_no_plan(make):
    kept = 64 * np.arange(1, SIZE + 1)
    run = sized(make, 0.004 + kept * 1e-6, kept)
    report = account_for(run).report
    assert report.verdict == "slowdown"
    assert not find_kinds(run).by_numbers.any()
