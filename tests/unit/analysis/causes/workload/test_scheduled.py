"""Work that comes every so many steps and stays alike is the program's plan, and no loss."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 600
EVERY = 4
STEP = 0.002
LONG = 0.040
"""Of such steps 20 ms every fourth are 11%."""


def _lost(first: int = 3, end: int = SIZE, *, to: float = 0.020) -> np.ndarray:
    """(SIZE,) seconds in every fourth row from `first` on, from 20 ms at the start."""
    rows = np.arange(SIZE)
    there = (rows >= first) & (rows < end) & (rows % EVERY == first % EVERY)
    return np.where(there, np.linspace(0.020, to, SIZE), 0.0)


def _shift(lost: np.ndarray) -> np.ndarray:
    """The same work, now and then a row late: not by a count of steps."""
    moved = lost.copy()
    for row in np.flatnonzero(lost)[1::5]:
        moved[row], moved[row - 1] = 0.0, lost[row]
    return moved


def test_gradients_that_are_applied_every_fourth_step_are_no_loss(make_run, find, judge):
    lost = _lost()
    account = judge(
        make_run(LONG + lost), find("core", "periodic", lost, confidence="medium", period_steps=4)
    )
    report = account.report

    assert (report.verdict, report.causes, report.suspects) == ("healthy", (), ())
    assert (report.lost_seconds, report.unexplained_seconds) == (0.0, 0.0)
    assert account.healthy_per_step == pytest.approx(LONG + lost)
    assert report.notes == (
        "A step takes 20 ms longer every 4 steps throughout the run (3 s, 11.1% of the run). This "
        "looks scheduled (gradient accumulation, logging) and isn't counted as lost. Mark it with "
        "a `phase` or `kind` to see it by name.",
    )


def test_what_takes_too_much_is_a_loss_however_regular(make_run, find, judge):
    lost = _lost()
    finding = find("core", "periodic", lost, confidence="medium", period_steps=4)
    report = judge(make_run(STEP + lost), finding).report
    assert (report.verdict, report.notes) == ("slowdown", ())
    assert report.unexplained_seconds == pytest.approx(lost.sum())


@pytest.mark.parametrize(
    ("lost", "numbers"),
    [
        pytest.param(_lost(first=203), {"period_steps": 4}, id="begins late"),
        pytest.param(_lost(end=400), {"period_steps": 4}, id="is over"),
        pytest.param(_shift(_lost()), {"period_steps": 4}, id="counts no steps"),
        pytest.param(_lost(), {"period_seconds": 0.03}, id="comes by the clock"),
    ],
)
def test_what_begins_ends_or_comes_by_the_clock_stays_lost(make_run, find, judge, lost, numbers):
    finding = find("core", "periodic", lost, confidence="medium", **numbers)
    report = judge(make_run(STEP + lost), finding).report

    assert report.verdict == "slowdown"
    assert report.unexplained_seconds == pytest.approx(lost.sum())
    assert report.notes == ()


@pytest.mark.parametrize(
    ("seconds", "verdict"),
    [(0.004, "healthy"), (0.008, "healthy"), (0.020, "slowdown")],
    ids=["3.8%", "7.4%", "17%"],
)
def test_what_comes_seldom_is_the_plan_below_the_floor_of_a_log_or_a_checkpoint(
    make_run, find, judge, seconds, verdict
):
    lost = np.where(np.arange(SIZE) % 50 == 49, seconds, 0.0)
    report = judge(
        make_run(STEP + lost), find("core", "periodic", lost, confidence="medium", period_steps=50)
    ).report
    assert report.verdict == verdict
    assert report.unexplained_seconds == (
        0.0 if verdict == "healthy" else pytest.approx(lost.sum())
    )


def test_another_loss_beside_the_plan_stays_one(make_run, find, judge):
    planned, shift = _lost(), np.where(np.arange(SIZE) >= 300, 0.020, 0.0)
    report = judge(
        make_run(LONG + planned + shift),
        find("core", "periodic", planned, confidence="medium", period_steps=4),
        find("core", "level_shift", shift, confidence="medium"),
    ).report

    assert report.verdict == "slowdown"
    assert report.lost_seconds == pytest.approx(shift.sum())


def test_of_work_that_grows_what_it_took_at_first_is_the_plan(make_run, find, judge):
    lost = _lost(to=0.060)
    finding = find("core", "periodic", lost, confidence="medium", period_steps=4)
    account = judge(make_run(LONG + lost, thread_cpu=LONG + lost), finding)
    report = account.report

    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    first = np.where(lost > 0, 0.020, 0.0)
    assert cause.lost_seconds == pytest.approx((lost - first).sum(), rel=0.12)
    assert account.healthy_per_step == pytest.approx(LONG + first, abs=0.003)
    assert report.lost_seconds == pytest.approx(cause.lost_seconds)
    (note,) = report.notes
    assert note.startswith("A step takes 22.1 ms longer every 4 steps throughout the run (")
