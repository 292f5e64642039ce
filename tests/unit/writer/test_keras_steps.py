"""Fits as the recorder sees them, on a clock that the test sets; Keras is not needed."""

import pytest

from tb_slowdown_plugin.collectors.clock import Clock
from tb_slowdown_plugin.records.types import Idle
from tb_slowdown_plugin.writer.entries import Opening
from tb_slowdown_plugin.writer.keras_steps import BETWEEN, BOOKKEEPING, FitSteps
from tb_slowdown_plugin.writer.recorder import Recorder

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
    rows = [entry for entry in recorder.entries if not isinstance(entry, Opening)]
    return [{name: ns / SECOND for name, ns in (row[8] or {}).items() if ns} for row in rows]


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
    assert [row[1] for row in recorder.entries if not isinstance(row, Opening)] == [0, 1, 2, 3]


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
