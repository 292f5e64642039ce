"""Buckets of rows: sums, extremes, and what a run spent its time in."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.timeline_columns import Unranged, numbers, reduce_rows
from tb_slowdown_plugin.records.types import Epoch


@pytest.fixture(name="run")
def _run(make_run):
    period = np.tile([0.01, 0.02, 0.03, 0.06], 250)
    accounts = {"gc": np.zeros(1000), "summary": period / 10, "input_wait": period / 2}
    accounts["gc"][7] = np.nan
    return make_run(period, accounts=accounts, events=[(400, Epoch(1)), (1000, Epoch(2))])


def test_a_bucket_has_the_mean_the_median_and_the_extremes_of_its_rows(run):
    columns = reduce_rows(run, account_for(run), 8, 17, 4, ["input_wait"])
    body = columns.body()
    assert (body["row"], body["count"]) == ([8, 12, 16], [4, 4, 2])
    assert body["step_seconds"] == {
        "mean": [0.03, 0.03, 0.015],
        "median": [0.025, 0.025, 0.015],
        "min": [0.01, 0.01, 0.01],
        "max": [0.06, 0.06, 0.02],
    }
    (wait,) = body["accounts"]
    assert (wait["account"], wait["seconds"]) == ("input_wait", [0.015, 0.015, 0.0075])


def test_accounts_are_told_by_what_was_spent_in_them_and_epochs_of_rows_that_are_there(run):
    found = Unranged.of(run)
    assert found.accounts == ("input_wait", "summary")
    assert found.epochs == ({"row": 400, "step": 400, "number": 1},)


def test_an_empty_run_has_empty_lists(make_run):
    run = make_run(np.zeros(0))
    body = reduce_rows(run, account_for(run), 0, -1, 1, ()).body()
    assert (body["row"], body["healthy"], body["accounts"]) == ([], [], [])
    assert body["step_seconds"] == {"mean": [], "median": [], "min": [], "max": []}


def test_numbers_are_rounded_and_never_nan():
    assert numbers(np.array([0.12345678, np.nan])) == [0.123457, None]
