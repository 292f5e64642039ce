"""A polling thread takes the share of each step that the step doesn't get of the cores."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.polling import find_polled, with_polling
from tb_slowdown_plugin.records.types import Fact

SIZE = 100
PERIOD = np.full(SIZE, 0.1)
PLACE = "Reader.run (train.py:56)"
ROWS = np.arange(9, SIZE, 10)
EVENTS = [(9, Fact("polling_at", "Reader.run (train.py:57)", {"seconds": 0.5}))] + [
    (row, Fact("polling_at", PLACE, {"seconds": 0.08 * row})) for row in (9, 50, 99)
]


def run_of(make_run, seconds=None, cpu=0.18, **limits):
    return make_run(
        PERIOD,
        events=EVENTS,
        signals={"polling_seconds": 0.08 * (ROWS + 1) if seconds is None else seconds},
        signal_rows=ROWS,
        process_cpu=np.full(SIZE, cpu),
        limits={"cpu_count": 2.0} | limits,
    )


def test_a_core_of_two_is_half_of_what_it_takes(make_run):
    made = with_polling(run_of(make_run), {"gc": np.full(SIZE, 0.02)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.04)


def test_no_more_than_the_step_has_left(make_run):
    made = with_polling(run_of(make_run), {"gc": np.full(SIZE, 0.09)})
    assert made[f"polling:{PLACE}"][10:] == pytest.approx(0.01)


@pytest.mark.parametrize("free", [{"cpu": 0.12}, {"cpu_count": 8.0}])
def test_where_cores_are_free_steps_lose_nothing(make_run, free):
    assert with_polling(run_of(make_run, **free), {}) == {}


def test_it_counts_from_the_step_on_in_which_it_began(make_run):
    seconds = np.where(ROWS < 50, 0.0, 0.1 * (ROWS - 49.0))
    polled = find_polled(run_of(make_run, seconds))
    assert not polled[:50].any()
    assert polled[60:] == pytest.approx(0.1)


def test_without_such_threads_there_is_no_account(make_run):
    assert find_polled(make_run(PERIOD)) is None
    assert with_polling(make_run(PERIOD), {}) == {}
