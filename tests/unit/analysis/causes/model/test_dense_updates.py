"""Rows that an optimizer moves without a lookup are a note, and in a headline; no cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

NUMBERS = {
    "rows": 400_000.0,
    "looked_up": 0.0,
    "looked_up_per_item": 1.0,
    "work": 6e8,
    "rest": 1e8,
    "rest_per_item": 1e6,
    "share": 0.8,
    "since": 0.0,
}


def report_of(make_run, items=128.0, **numbers):
    fact = Fact("dense_update", "Ranker.call (rank.py:11)", NUMBERS | numbers)
    run = make_run(np.full(400, 0.1), events=[(2, fact)])
    run = replace(run, steps=replace(run.steps, items=np.full(400, items)))
    return account_for(run).report


def test_it_is_told_by_the_size_of_a_batch_and_costs_nothing(make_run):
    report = report_of(make_run)
    assert (report.verdict, report.causes) == ("healthy", ())
    assert "But most of a step moves all rows of a table" in report.headline
    (note,) = (each for each in report.notes if "optimizer" in each)
    assert note.startswith(
        "Most of what the step's graph computes, as it is counted, moves all 400,000 rows of a "
        "table of which it looks up at most 128, in Ranker.call (rank.py:11)."
    )


@pytest.mark.parametrize(
    ("numbers", "rows"),
    [({}, "a few"), ({"looked_up": 64.0, "looked_up_per_item": 0.0}, "at most 64")],
)
def test_how_many_rows_is_told_where_it_is_known(make_run, numbers, rows):
    (note,) = (each for each in report_of(make_run, np.nan, **numbers).notes if "optimizer" in each)
    assert f"of which it looks up {rows}, in Ranker.call (rank.py:11)." in note


@pytest.mark.parametrize(
    ("items", "numbers"),
    [(128.0, {"work": 2e8}), (200_000.0, {})],
    ids=["little", "half of the rows are looked up"],
)
def test_little_work_and_rows_that_are_needed_are_not_told(make_run, items, numbers):
    report = report_of(make_run, items, **numbers)
    assert "rows of a table" not in report.headline
    assert not any("of which it looks up" in each for each in report.notes)
