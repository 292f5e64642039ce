"""Between two analyses the newest steps are booked as those just before them."""

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.analysis.live.follow import carry_on, follow
from tb_slowdown_plugin.analysis.live.hysteresis import LiveState, Sighting
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals

ROWS = 4000
SHIFT = 2000


def run_of(steps, steps_per_row=1):
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    return Run(
        "run1", steps, no_signals(), (), Environment(), (session,), steps_per_row=steps_per_row
    )


def grown(seconds_of_the_new):
    """A run with a shift by 30 ms at step 2,000, analysed at 4,000; and with 500 steps more."""
    steps = event_files.make_steps(ROWS + 500, seed=2)
    steps.period_seconds[SHIFT:ROWS] += 0.03
    steps.period_seconds[ROWS:] = seconds_of_the_new
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    return run_of(event_files.rows_of(steps, 0, ROWS)), run_of(steps)


@pytest.mark.parametrize(
    ("seconds", "lost"),
    [(0.13, 15.0), (0.1, 0.0), (0.5, 15.0), (0.05, 0.0), (0.115, 7.5)],
    ids=["goes on", "recovered", "something new", "faster than ever", "half of it"],
)
def test_what_was_found_goes_on_and_nothing_new_is_found(seconds, lost):
    before, now = grown(seconds)
    account = account_for(before)
    report = account.report
    assert report.lost_seconds == pytest.approx(60.0, rel=0.05)
    more = carry_on(now, account)
    added = sum(column.sum() for cause, column in more.items() if cause != "healthy")
    assert added == pytest.approx(lost, abs=0.1 * 15.0)
    np.testing.assert_allclose(sum(more.values()), now.steps.period_seconds[ROWS:], atol=1e-12)
    assert (more["healthy"] >= 0).all()


def test_causes_take_over_in_the_proportion_in_which_they_were():
    steps = event_files.make_steps(ROWS + 400, seconds=0.1, accounts={"gc": 0.0, "checkpoint": 0.0})
    steps.accounts["gc"][::2] = 0.06
    steps.accounts["checkpoint"][::4] = 0.06
    steps.period_seconds[:] += steps.accounts["gc"] + steps.accounts["checkpoint"]
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    account = account_for(run_of(event_files.rows_of(steps, 0, ROWS)))
    seconds = {cause.cause: cause.lost_seconds for cause in account.report.causes}
    assert seconds == pytest.approx({"garbage_collection": 120.0, "checkpointing": 60.0})
    more = carry_on(run_of(steps), account)
    assert more["garbage_collection"].sum() == pytest.approx(12.0)
    assert more["checkpointing"].sum() == pytest.approx(6.0)


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_a_run_that_has_just_begun(rows):
    steps = event_files.make_steps(rows + 5)
    steps.period_seconds[rows] = np.nan
    account = account_for(run_of(event_files.rows_of(steps, 0, rows)))
    more = carry_on(run_of(steps), account)
    assert more.pop("healthy").sum() == pytest.approx(0.4)
    assert sum(column.sum() for column in more.values()) == 0.0


def test_a_live_state_follows_when_rows_become_groups_of_steps():
    sighting = Sighting("core", "level_shift", (500, 999), 5.0, 800, 60.0, 2.0, True)
    state = LiveState(1000, (sighting,), ("told",))
    folded = state.in_rows_of(4)
    assert (folded.steps, folded.withdrawn, folded.steps_per_row) == (250, ("told",), 4)
    assert folded.sightings[0].rows == (125, 249)
    assert (folded.sightings[0].first_steps, folded.sightings[0].lost_seconds) == (200, 5.0)
    assert folded.in_rows_of(4) is folded


def test_a_finding_survives_that_rows_become_groups_of_steps():
    steps = event_files.make_steps(8000, seed=2)
    steps.period_seconds[SHIFT:] += 0.03
    _, state = follow(run_of(event_files.rows_of(steps, 0, 6000)), None)
    assert [each.is_confirmed for each in state.sightings] == [True]
    period = steps.period_seconds.reshape(-1, 2).sum(axis=1)
    pairs = event_files.make_steps(4000)
    pairs.period_seconds[:] = period
    account, state = follow(run_of(pairs, steps_per_row=2), state)
    assert (account.report.steps, state.steps_per_row) == (8000, 2)
    assert [each.is_confirmed for each in state.sightings] == [True]
    assert state.withdrawn == ()
    assert account.report.lost_seconds == pytest.approx(180.0, rel=0.05)
