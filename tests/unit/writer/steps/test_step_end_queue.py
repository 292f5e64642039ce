"""Work for the end of a step, and which rows begin an epoch."""

from __future__ import annotations

from tb_slowdown_plugin.writer.steps.step_end_queue import Due, Epochs


def test_a_call_comes_again_as_long_as_it_says_so() -> None:
    due, left = Due(), [True, True, False]
    due.call_after_steps(lambda: left.pop(0))
    for expected in (True, True, False):
        assert due.is_any
        due.do("train")
        assert due.is_any is expected
    assert left == []


def test_a_sample_is_taken_once() -> None:
    due, taken = Due(), []
    due.sample = lambda: taken.append(1)
    due.ask_for_sample()
    due.do("train")
    due.do("train")
    assert taken == [1]


def test_cleared_calls_do_not_come() -> None:
    due, called = Due(), []
    due.call_after_steps(lambda: called.append(1) or True)
    due.clear()
    due.do("train")
    assert called == []


def test_a_pass_over_data_is_an_epoch_once_a_step_ended_well() -> None:
    due = Due()
    due.expect_epoch(10)
    assert due.is_any
    assert due.do("train") == [(10, 0)]
    due.expect_epoch(20)
    assert due.do("train") == [(20, 1)]


def test_a_pass_of_an_evaluation_is_none() -> None:
    epochs = Epochs()
    epochs.expect(10)
    assert epochs.confirm("eval") == []
    assert epochs.confirm("train") == []


def test_a_row_begins_one_epoch_however_often_it_is_marked() -> None:
    epochs = Epochs()
    assert epochs.mark(5, 3) == (5, 3)
    assert epochs.mark(5, 4) is None
    epochs.expect(5)
    epochs.expect(8)
    epochs.expect(8)
    assert epochs.confirm("train") == [(8, 4)]
