"""Work of the loop's own between two epochs: no loss as long as it is little and stays alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

SIZE = 800
STEP = 0.010
FIRST = (np.arange(SIZE) % 100 == 0) & (np.arange(SIZE) > 0)
"""(SIZE,) the first step of each epoch but the very first: 7."""


def _report(make_run, find, judge, lost, inside=STEP):
    """Steps of 10 ms; `lost` are the seconds before each epoch, `inside` those in `step()`."""
    run = make_run(STEP + lost)
    inside = np.where(FIRST, inside, STEP)
    run = replace(run, steps=replace(run.steps, inside_seconds=inside))
    return judge(run, find("core", "epoch_boundary", lost), warm_up_rows=1).report


def _each(seconds) -> np.ndarray:
    lost = np.zeros(SIZE)
    lost[FIRST] = seconds
    return lost


@pytest.mark.parametrize("at_first", [0.0, 0.5])
def test_work_that_stays_alike_is_a_note_and_no_loss(make_run, find, judge, at_first):
    lost = _each(0.080)
    lost[0] = at_first  # before the very first step the program sets up, too
    report = _report(make_run, find, judge, lost)

    assert (report.verdict, report.causes, report.suspects) == ("healthy", (), ())
    assert (report.lost_seconds, report.unexplained_seconds) == (0.0, 0.0)
    assert report.notes == (
        "7 epochs begin with 80 ms of work on average between two steps, outside `step()` and "
        f"outside input wait: 560 ms, {56 / (8.56 + at_first):.1f}% of the run. It doesn't "
        "grow, so it isn't counted as lost: validation, logging, or a dataset that is re-created. "
        'Mark it with `tbslow.summary.phase("...")` to see it by name.',
    )


@pytest.mark.parametrize(
    ("lost", "each"),
    [
        pytest.param(_each(np.linspace(0.05, 0.11, 7)), "80 ms", id="grows"),
        pytest.param(_each(0.250), "250 ms", id="is a fifth of the run"),
    ],
)
def test_work_that_grows_or_is_much_stays_lost_and_is_a_suspect(make_run, find, judge, lost, each):
    report = _report(make_run, find, judge, lost)

    assert report.verdict == "slowdown"
    assert report.unexplained_seconds == pytest.approx(lost.sum())
    assert report.causes == report.notes == ()
    (suspect,) = report.suspects
    assert suspect.seconds == pytest.approx(lost.sum())
    assert suspect.why == (
        f"7 epochs begin with {each} of work on average between two steps, outside `step()` and "
        "outside input wait: a dataset that is re-created for each epoch, or other work of the "
        'loop. Mark it with `tbslow.summary.phase("...")` to see it by name.'
    )


@pytest.mark.parametrize("inside", [STEP + 0.080, np.nan], ids=["in the step", "not known"])
def test_a_stall_that_may_be_the_steps_own_stays_unexplained(make_run, find, judge, inside):
    report = _report(make_run, find, judge, _each(0.080), inside)

    assert report.verdict == "slowdown"
    assert report.suspects == report.notes == ()
