"""Every misuse of a step, and exceptions that pass through one."""

from __future__ import annotations

import threading

import pytest

from tb_slowdown_plugin.errors import UsageError


def in_thread(call):
    """Runs `call` in another thread; returns what it raised."""
    raised = []

    def run():
        try:
            call()
        except UsageError as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="second")
    thread.start()
    thread.join()
    return raised[0] if raised else None


# -- numbers, items and kinds ------------------------------------------------------


@pytest.mark.parametrize("number", [-1, 1.5, 1 << 62, "seven", [1], float("nan")])
def test_what_is_no_step_number_is_refused(run, number):
    with pytest.raises(UsageError, match="expected a non-negative integer"):
        run.recorder.begin(step=number)


@pytest.mark.parametrize("items", [-1, float("nan"), float("inf"), "many"])
def test_what_is_no_amount_of_items_is_refused(run, items):
    with pytest.raises(UsageError, match=f"items={items!r}: expected the number of examples"):
        run.recorder.begin(items=items)


@pytest.mark.parametrize("kind", ["", 3, None])
def test_what_is_no_kind_is_refused(run, kind):
    with pytest.raises(UsageError, match=f"kind={kind!r}: expected a name"):
        run.recorder.begin(kind=kind)


# -- order and threads -------------------------------------------------------------


def test_a_step_inside_a_step_is_refused_and_the_outer_one_survives(run):
    run.recorder.begin(4)
    with pytest.raises(
        UsageError, match="step 9 was opened inside step 4, and steps can't be nested"
    ):
        run.recorder.begin(9)
    with pytest.raises(UsageError, match="a step was opened inside step 4"):
        run.recorder.begin()
    run.time.spend(0.2)
    run.recorder.end()
    steps = run.chunk().steps
    assert steps.number.tolist() == [4]
    assert steps.period_seconds.tolist() == [0.2]


def test_a_step_object_entered_twice_is_refused(run):
    step = run.recorder.prepare(3, None, "train")
    with step, pytest.raises(UsageError, match="step 3 was opened inside step 3"):
        step.__enter__()
    assert run.recorder.rows == 1


def test_a_step_in_a_second_thread_is_refused(run):
    run.step()
    error = in_thread(run.recorder.begin)
    assert isinstance(error, UsageError)
    assert "thread 'second'" in str(error)
    run.step()
    assert run.recorder.rows == 2


def test_a_step_in_a_second_thread_is_refused_while_one_is_open(run):
    run.recorder.begin(1)
    error = in_thread(lambda: run.recorder.begin(2))
    assert isinstance(error, UsageError)
    assert "step 2 is opened in thread 'second'" in str(error)
    run.recorder.end()
    assert run.chunk().steps.number.tolist() == [1]


def test_the_thread_of_the_first_step_is_the_training_thread(run):
    in_thread(run.recorder.open_period)
    assert in_thread(lambda: run.recorder.is_mine()) is None  # a loader thread fetched first
    run.step()
    assert run.recorder.is_mine()


def test_a_step_inside_a_traced_function_is_refused(run):
    run.tracing = True
    with pytest.raises(UsageError, match=r"inside a tf\.function, where it would run only"):
        run.recorder.begin()
    run.tracing = False
    run.step()
    assert run.chunk().steps.number.tolist() == [0]


def test_an_end_without_a_begin_is_refused(run):
    with pytest.raises(UsageError, match="none is open"):
        run.recorder.end()


def test_a_cancel_without_a_begin_changes_nothing(run):
    run.step()
    run.recorder.cancel()
    run.step()
    assert run.chunk().steps.number.tolist() == [0, 1]


# -- exceptions of the user's ------------------------------------------------------


def test_an_exception_passes_and_its_time_goes_to_the_next_step(run):
    error = KeyError("the user's own")

    def fail():
        with run.recorder.prepare(None, None, "train"):
            run.time.spend(0.7)
            raise error

    run.step(0.1)
    with pytest.raises(KeyError) as caught:
        fail()
    assert caught.value is error
    run.step(0.1)
    steps = run.chunk().steps
    assert steps.number.tolist() == [0, 1]
    assert steps.period_seconds.tolist() == [0.1, 0.8]
    assert steps.inside_seconds.tolist() == [0.1, 0.1]


def test_stop_iteration_leaves_no_step(run):
    def loop(batches):
        while True:
            with run.recorder.prepare(None, None, "train"):
                try:
                    next(batches)
                except StopIteration:
                    raise EOFError from None

    with pytest.raises(EOFError):
        loop(iter([1, 2, 3]))
    assert run.recorder.rows == 3
    assert not run.recorder.in_step
