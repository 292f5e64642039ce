"""What a graph's functions of Python take is in each step what they took between two facts."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.prepare.unclocked.graphs.graph_python import with_graph_python
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PLACE = "score_of (metrics.py:8)"
ACCOUNT = f"graph_python:{PLACE}"


def record(make_run, *so_far, period=0.1, place=PLACE):
    """Facts of (row, seconds so far)."""
    events = [
        (row, Fact("graph_python", place, {"calls": row + 1.0, "seconds": seconds}))
        for row, seconds in so_far
    ]
    return make_run(np.full(SIZE, period), events=events)


def test_it_is_the_same_between_two_facts_and_behind_the_last_one(make_run):
    made = with_graph_python(record(make_run, (9, 0.2), (99, 2.9)), {})
    np.testing.assert_allclose(made[ACCOUNT][:10], 0.02)
    np.testing.assert_allclose(made[ACCOUNT][10:], 0.03)


def test_it_takes_no_more_than_is_left_of_a_step(make_run):
    made = with_graph_python(record(make_run, (9, 5.0)), {"gc": np.full(SIZE, 0.04)})
    np.testing.assert_allclose(made[ACCOUNT], 0.06)


def test_without_such_functions_there_is_no_account(make_run):
    assert with_graph_python(record(make_run), {}) == {}


def test_it_is_one_row_with_the_function(make_run):
    report = account_for(record(make_run, (9, 0.4), (99, 4.0), (399, 16.0))).report
    (cause,) = report.causes
    assert (cause.cause, report.verdict) == ("python_overhead", "slowdown")
    assert cause.lost_seconds == pytest.approx(16.0)
    assert (cause.place.file, cause.place.line) == ("metrics.py", 8)
    assert cause.summary == (
        f"The step's graph calls {PLACE}, a function in Python, and waits for it: for about 40 ms "
        "at every step."
    )
