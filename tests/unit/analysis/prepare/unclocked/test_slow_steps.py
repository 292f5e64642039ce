"""Which lines write files, and what that costs, from looks at slow steps."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.slow_steps import (
    find_slow_steps,
    with_slow_lines,
)
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
ROW = np.arange(SIZE)
SAVES = np.where(ROW % 40 == 39, 0.300, 0.0)
LINE = "save (train.py:41)"


def look(place=LINE, ago=3, writes=1.0, written=4e6):
    numbers = {"ago": float(ago), "writes": writes, "written_bytes": written}
    return Fact("slow_step", place, numbers)


def looks(rows, **of):
    return [(row + 3, look(**of)) for row in rows]


def account_of(run, place=LINE, measured=None):
    return with_slow_lines(run, measured or {}).get(f"file_write:{place}")


def test_a_line_that_was_seen_writing_has_what_its_steps_took_beyond_the_others(make_run):
    column = account_of(make_run(0.010 + SAVES, events=looks(range(39, SIZE, 40))))
    np.testing.assert_allclose(column, SAVES)


def test_steps_as_slow_as_those_seen_are_the_same_lines(make_run):
    """Of ten three were seen."""
    column = account_of(make_run(0.010 + SAVES, events=looks([39, 199, 319])))
    np.testing.assert_allclose(column, SAVES)


@pytest.mark.parametrize("rows", [[39, 199], []])
def test_of_two_looks_nothing_follows_for_other_steps(make_run, rows):
    column = account_of(make_run(0.010 + SAVES, events=looks(rows)))
    expected = None if not rows else pytest.approx(np.where(np.isin(ROW, rows), SAVES, 0.0))
    assert column == expected


@pytest.mark.parametrize(("there", "is_known"), [(12, True), (4, False), (36, False)])
def test_one_look_is_enough_where_samples_tell_the_same_of_all_of_them(make_run, there, is_known):
    # 10 steps of 0.3 s more, of 7 s: 17 of 40 samples would be there.
    sample = Fact("python_stack", "save (train.py:40)", {"samples": float(there), "of": 40.0})
    column = account_of(make_run(0.010 + SAVES, events=[*looks([39]), (SIZE, sample)]))
    np.testing.assert_allclose(column, SAVES if is_known else np.where(ROW == 39, SAVES, 0.0))


def test_steps_that_another_line_may_hold_up_are_not_this_lines(make_run):
    events = sorted([*looks([39, 119, 199]), *looks([239], place="f (x.py:1)", writes=0.0)])
    column = account_of(make_run(0.010 + SAVES, events=events))
    assert np.flatnonzero(column).tolist() == [39, 119, 199]


def test_the_line_that_trains_may_be_seen_in_a_slow_step_and_holds_up_none(make_run):
    """The look came late: the graph of the same step ran already."""
    trains = Fact("python_stack", "main (train.py:9)", {"samples": 8.0, "graph": 8.0, "of": 9.0})
    late = looks([239, 279], place="main (train.py:9)", writes=0.0)
    events = sorted([*looks([39, 119, 199]), *late], key=lambda event: event[0])
    column = account_of(make_run(0.010 + SAVES, events=[*events, (SIZE, trains)]))
    np.testing.assert_allclose(column, SAVES)


@pytest.mark.parametrize("others", [1, 2])
def test_what_was_written_before_a_late_look_is_of_the_one_line_that_was_seen_to_write(
    make_run, others
):
    trains = Fact("python_stack", "main (train.py:9)", {"samples": 8.0, "graph": 8.0, "of": 9.0})
    late = looks([79, 159, 239, 279], place="main (train.py:9)", writes=0.0)
    seen = looks([39, 119, 199])
    if others == 2:
        seen[0] = looks([39], place="log (train.py:60)")[0]
    events = sorted([*seen, *late], key=lambda event: event[0])
    made = with_slow_lines(make_run(0.010 + SAVES, events=[*events, (SIZE, trains)]), {})
    if others == 1:
        assert set(made) == {f"file_write:{LINE}"}
        np.testing.assert_allclose(made[f"file_write:{LINE}"], SAVES)
    else:
        assert "file_write:main (train.py:9)" in made


def test_a_step_may_end_between_a_look_and_its_record(make_run):
    events = [(row + 1, what) for row, what in looks(range(39, SIZE - 4, 40))]
    column = account_of(make_run(0.010 + SAVES, events=events))
    np.testing.assert_allclose(column, SAVES)


def test_a_line_that_does_not_write_gets_no_account(make_run):
    run = make_run(0.010 + SAVES, events=looks([39, 79, 119], writes=0.0, written=0.0))
    assert with_slow_lines(run, {}) == {}
    assert [each.row for each in find_slow_steps(run, {})] == [39, 79, 119]


@pytest.mark.parametrize("checkpoint", [0.0, 0.25])
def test_bytes_that_a_checkpoint_wrote_are_not_the_lines(make_run, checkpoint):
    run = make_run(0.010 + SAVES, events=looks([39, 79, 119], writes=0.0, written=4e6))
    measured = {"checkpoint:manager": np.where(SAVES > 0, checkpoint, 0.0)}
    assert (account_of(run, measured=measured) is None) is bool(checkpoint)


@pytest.mark.parametrize("by_itself", [1e3, 1e6])
def test_what_a_checkpoint_wrote_in_that_step_is_not_what_the_line_writes(make_run, by_itself):
    """The line evaluates, and a short save follows."""
    rows = [39, 79, 119]
    saves = [(row, Fact("checkpoint", "manager", {"bytes": 3e6, "seconds": 0.01})) for row in rows]
    events = sorted([*looks(rows, written=3e6 + by_itself), *saves], key=lambda event: event[0])
    run = make_run(0.010 + SAVES, events=events)
    measured = {"checkpoint:manager": np.where(SAVES > 0, 0.01, 0.0)}
    assert (account_of(run, measured=measured) is None) is (by_itself == 1e3)


def test_lines_of_one_function_are_one_account(make_run):
    events = sorted(
        [*looks([39, 119]), *looks([79, 159, 199], place="save (train.py:43)")],
        key=lambda event: event[0],
    )
    assert account_of(make_run(0.010 + SAVES, events=events), "save (train.py:43)") is not None


def test_rows_outside_of_the_run_are_left_out(make_run):
    run = make_run(0.010 + SAVES, events=[(0, look(ago=2)), (900, look())])
    assert find_slow_steps(run, {}) == []
