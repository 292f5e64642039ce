"""Phases: exclusive, nested, on one side of a step's edge, in one thread."""

from __future__ import annotations

import threading

import pytest

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.errors import UsageError
from tb_slowdown_plugin.writer.steps.phases import Phase


def accounts(run):
    return {name: values.tolist() for name, values in run.chunk().steps.accounts.items()}


def test_nested_phases_share_no_second(run):
    recorder = run.recorder
    recorder.begin()
    with Phase(recorder, "forward"):
        run.time.spend(1.0)
        with Phase(recorder, "communication"):
            run.time.spend(0.25)
        run.time.spend(0.5)
    run.time.spend(0.125)
    recorder.end()
    assert accounts(run) == {"forward": [1.5], "communication": [0.25]}


@pytest.mark.parametrize(("phase", "account"), sorted(names.STANDARD_PHASES.items()))
def test_a_standard_phase_has_its_account(run, phase, account):
    run.recorder.begin()
    with Phase(run.recorder, phase):
        run.time.spend(0.5)
    run.recorder.end()
    assert accounts(run) == {account: [0.5]}


def test_any_other_phase_is_kept_under_its_name(run):
    run.recorder.begin()
    with Phase(run.recorder, "augment: flip"):
        run.time.spend(0.5)
    run.recorder.end()
    assert accounts(run) == {"phase:augment: flip": [0.5]}


def test_a_phase_between_steps_belongs_to_the_step_after_it(run):
    run.step(0.1)
    with Phase(run.recorder, "checkpoint"):
        run.time.spend(2.0)
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.accounts["checkpoint"].tolist() == [0.0, 2.0]
    assert steps.period_seconds.tolist() == [0.1, 2.1]


def test_a_data_phase_opens_the_first_period(run):
    run.time.spend(9.0)
    with Phase(run.recorder, "data"):
        run.time.spend(2.0)
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.period_seconds.tolist() == [2.1]
    assert steps.accounts["input_wait"].tolist() == [2.0]


def test_any_other_phase_before_the_first_step_is_in_no_period(run):
    with Phase(run.recorder, "restore"):
        run.time.spend(2.0)
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.period_seconds.tolist() == [0.1]
    assert steps.accounts == {}


def test_a_phase_may_lie_around_steps(run):
    run.step(0.1)
    with Phase(run.recorder, "validation"):
        run.step(0.5, kind="eval")
    run.step(0.1)
    assert run.chunk().steps.accounts["validation"].tolist() == [0.0, 0.5, 0.0]


def test_a_phase_left_open_ends_with_its_step_and_says_so(run):
    phase = Phase(run.recorder, "forward")
    run.recorder.begin()
    phase.__enter__()
    run.time.spend(0.5)
    run.recorder.end()
    with pytest.raises(UsageError, match="phase 'forward' is closed outside the step"):
        phase.__exit__(None, None, None)
    run.step(0.25)
    assert accounts(run) == {"forward": [0.5, 0.0]}


def test_a_phase_opened_before_a_step_does_not_close_inside_it(run):
    phase = Phase(run.recorder, "forward")
    phase.__enter__()
    run.recorder.begin()
    with pytest.raises(UsageError, match="phase 'forward' is closed outside the step"):
        phase.__exit__(None, None, None)
    run.recorder.end()
    phase.__exit__(None, None, None)
    assert run.recorder.stopwatch.depth == 0


def test_phases_close_in_the_order_of_opening(run):
    outer, inner = Phase(run.recorder, "forward"), Phase(run.recorder, "backward")
    run.recorder.begin()
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(UsageError, match="or not in the order of opening"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    outer.__exit__(None, None, None)
    run.recorder.end()


def test_the_users_exception_is_not_replaced_by_ours(run):
    error = KeyError("the user's own")
    phase = Phase(run.recorder, "forward")

    def fail():
        with run.recorder.prepare(None, None, "train"):
            phase.__enter__()
            raise error

    with pytest.raises(KeyError) as caught:
        fail()
    assert caught.value is error
    phase.__exit__(KeyError, error, None)
    assert run.recorder.stopwatch.depth == 0


@pytest.mark.parametrize("name", ["", None, 3])
def test_a_phase_needs_a_name(run, name):
    with pytest.raises(UsageError, match=f"phase {name!r} has no name; give one of backward, "):
        Phase(run.recorder, name)


def test_a_phase_entered_twice_is_refused(run):
    phase = Phase(run.recorder, "forward")
    with phase, pytest.raises(UsageError, match="is already open"):
        phase.__enter__()


def test_a_phase_in_another_thread_is_refused(run):
    run.step()
    raised = []

    def enter():
        try:
            Phase(run.recorder, "data").__enter__()
        except UsageError as error:
            raised.append(str(error))

    thread = threading.Thread(target=enter)
    thread.start()
    thread.join()
    assert "outside the training thread" in raised[0]


def test_a_phase_inside_a_traced_function_is_refused(run):
    run.tracing = True
    with pytest.raises(UsageError, match=r"inside a tf\.function"):
        Phase(run.recorder, "forward").__enter__()
