"""Fits as the recorder sees them, on a clock that the test sets; Keras is not needed."""

import pytest

from tb_slowdown_plugin.catalog.events import PLANNED_STEPS, PLANNED_STEPS_OVER
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact, Idle
from tb_slowdown_plugin.writer.keras.fit_steps import BETWEEN, BOOKKEEPING, FitSteps
from tb_slowdown_plugin.writer.steps.recorder import Recorder
from tb_slowdown_plugin.writer.steps.step_buffer import Opening

SECOND = 1_000_000_000


class Hand:
    """Wall and CPU time, turned by the test."""

    def __init__(self):
        self.wall = self.cpu = 0

    def pass_seconds(self, wall, cpu=None):
        self.wall += round(wall * SECOND)
        self.cpu += round((wall if cpu is None else cpu) * SECOND)


@pytest.fixture
def hand():
    return Hand()


@pytest.fixture
def recorder(hand):
    return Recorder(
        Clock(lambda: hand.wall, lambda: hand.cpu, lambda: hand.cpu, lambda: hand.wall / SECOND)
    )


@pytest.fixture
def steps(recorder):
    return FitSteps(recorder)


def fit(steps, hand, batches=3):
    steps.begin_fit(1, batches)
    steps.begin_epoch(0)
    for batch in range(batches):
        steps.begin_batch(batch)
        hand.pass_seconds(1)
        steps.end_batch()
    steps.leave_batches()
    hand.pass_seconds(0.25)
    steps.end_fit()


def accounts(recorder):
    """The accounts of each step, in seconds."""
    return [
        {name: ns / SECOND for name, ns in (row[8] or {}).items() if ns} for row in rows(recorder)
    ]


def test_the_time_between_two_fits_has_a_name(recorder, steps, hand):
    fit(steps, hand)
    hand.pass_seconds(5)
    fit(steps, hand)
    assert accounts(recorder)[3] == {BOOKKEEPING: 0.25, BETWEEN: 5}
    assert not any(BETWEEN in row for row in accounts(recorder)[4:])


def test_a_notebook_left_alone_between_two_fits_is_idle_and_a_busy_one_is_not(
    recorder, steps, hand
):
    fit(steps, hand)
    hand.pass_seconds(600, cpu=1)
    fit(steps, hand)
    assert [event.what for event in recorder.events if isinstance(event.what, Idle)] == [
        Idle(600.0)
    ]
    assert BETWEEN not in accounts(recorder)[3]
    hand.pass_seconds(600, cpu=500)
    fit(steps, hand)
    assert accounts(recorder)[6][BETWEEN] == 600


def rows(recorder):
    return [entry for entry in recorder.entries if not isinstance(entry, Opening)]


def test_a_batch_begins_where_the_one_before_ended_without_being_announced(recorder, steps, hand):
    steps.begin_fit(1, 2)
    assert steps.go_on
    steps.begin_batch(0)
    hand.pass_seconds(1)
    steps.end_batch()
    hand.pass_seconds(0.5)  # callbacks that are told of the next batch
    hand.pass_seconds(1)
    steps.end_batch(1, {"loss": 1.0})
    begun_and_ended = [(row[2] / SECOND, row[3] / SECOND) for row in rows(recorder)]
    assert begun_and_ended == [(0, 1), (1, 2.5)]


def test_the_batch_that_was_begun_at_the_end_of_an_epoch_is_no_step(recorder, steps, hand):
    steps.begin_fit(1, 2)
    for epoch in range(2):
        steps.begin_epoch(epoch)
        for batch in range(2):
            steps.begin_batch(batch)
            hand.pass_seconds(1)
            steps.end_batch()
        steps.leave_batches()
        assert not recorder.in_step
        hand.pass_seconds(3)
    assert [row[1] for row in rows(recorder)] == [0, 1, 2, 3]
    assert accounts(recorder)[2] == {BOOKKEEPING: 3}


def test_a_batch_that_is_announced_twice_begins_anew(recorder, steps, hand):
    steps.begin_fit(1, 2)
    steps.begin_batch(0)
    hand.pass_seconds(1)
    steps.end_batch()
    steps.begin_batch(1)
    hand.pass_seconds(1)
    steps.begin_batch(1)
    hand.pass_seconds(1)
    steps.end_batch()
    assert [(row[1], row[2] / SECOND) for row in rows(recorder)] == [(0, 0), (1, 2)]


def test_an_execution_of_several_batches_begins_when_keras_says_which(recorder, steps, hand):
    steps.begin_fit(4, 6)
    for batch in (0, 4):
        steps.begin_batch(batch)
        hand.pass_seconds(1)
        steps.end_batch()
        assert not recorder.in_step
    assert [(row[1], row[6]) for row in rows(recorder)] == [(0, 4), (4, 2)]


def test_steps_go_on_from_where_a_run_was_resumed(recorder, steps):
    for count in (7, 2):
        steps.begin_fit(1, 1, lambda: count)  # noqa: B023 - asked before the next turn
        steps.begin_batch(0)
        steps.end_batch()
        steps.end_fit()
    assert [row[1] for row in rows(recorder)] == [7, 8]


def test_a_fit_that_raised_in_a_batch_leaves_a_gap_and_no_step(recorder, steps, hand):
    steps.begin_fit(1, 3)
    steps.begin_batch(0)
    hand.pass_seconds(1)
    steps.end_batch()
    steps.begin_batch(1)
    hand.pass_seconds(2)
    steps.leave_fit()
    assert (recorder.rows, recorder.in_step, recorder.stopwatch.opened) == (1, False, [])
    hand.pass_seconds(3)
    fit(steps, hand)
    assert recorder.rows == 4
    assert accounts(recorder)[1] == {BETWEEN: 5}
    assert [row[1] for row in rows(recorder)] == [0, 1, 2, 3]


@pytest.mark.parametrize("account", ["validation", "bookkeeping"])
def test_one_that_raised_elsewhere_books_nothing_of_the_pause_to_what_was_open(
    recorder, steps, hand, account
):
    steps.begin_fit(1, 3)
    steps.begin_batch(0)
    steps.end_batch()
    (steps.begin_validation if account == "validation" else steps.leave_batches)()
    hand.pass_seconds(600, cpu=1)
    steps.leave_fit()
    fit(steps, hand)
    assert [event.what for event in recorder.events if isinstance(event.what, Idle)] == [
        Idle(600.0)
    ]
    assert not any(accounts(recorder))


def facts(recorder):
    """Row, name, and numbers of each fact."""
    found = [(each.row, each.what) for each in recorder.events if isinstance(each.what, Fact)]
    return [(row, what.name, dict(what.numbers)) for row, what in found]


def test_what_keras_plans_is_recorded_with_the_first_epoch(recorder, hand, steps):
    fit(steps, hand)
    steps.begin_fit(4, 10, epochs=7)
    steps.begin_epoch(2)  # `initial_epoch`
    steps.begin_epoch(3)
    steps.leave_fit()
    assert facts(recorder) == [
        (3, PLANNED_STEPS_OVER, {}),
        (3, PLANNED_STEPS, {"epochs": 5.0, "steps": 3.0}),
        (3, PLANNED_STEPS_OVER, {}),
    ]


def test_a_pass_of_unknown_length_has_epochs_only(recorder, steps):
    steps.begin_fit(1, None, epochs=2)
    steps.begin_epoch(0)
    assert facts(recorder) == [(0, PLANNED_STEPS, {"epochs": 2.0})]
