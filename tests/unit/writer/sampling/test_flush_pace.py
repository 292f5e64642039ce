"""Records come early when steps take another time, a few times, and never because of one stall."""

import pytest
from unit.writer.sessions import chunks, live, session_of

from tb_slowdown_plugin.writer.sampling.flush_pace import FlushPace


def early(paces):
    """The seconds at which records come early in a run with so many steps in each second."""
    pace, steps, due = FlushPace(0.0), 0, []
    for second, count in enumerate(paces, start=1):
        steps += count
        if pace.is_due(steps, float(second)):
            due.append(second)
    return due


@pytest.mark.parametrize(
    ("then", "due"),
    [
        (60, [12, 15, 18]),
        (170, [12, 15, 18]),
        (81, []),
        (124, []),
        (4, [14, 17, 20]),
    ],
    ids=["slower", "faster", "a little slower", "a little faster", "25 times slower"],
)
def test_a_change_brings_three_records(then, due):
    assert early([100] * 10 + [then] * 30) == due


def test_one_stall_brings_none():
    assert early(([100] * 10 + [40]) * 20) == []


def test_in_a_run_that_changes_all_the_time_they_are_few():
    hours = 10
    due = early(([100] * 10 + [50] * 10) * (hours * 180))
    assert len([second for second in due if second <= 60]) == 6
    assert len(due) <= 6 + hours * 12


def test_a_record_of_a_change_is_written_within_two_seconds(run):
    session = session_of(run)
    live(run, session, 87.0, 0.02)  # the next record is due at 96 s
    changed = run.recorder.rows
    live(run, session, 2.0, 0.03)
    last = chunks(run.sink)[-1]
    assert last.first_row + len(last.steps) > changed + 20
