"""Work on all rows of a table is one row, with the line, the rows, and what to do instead."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PLACE = "Table.call (towers.py:41)"
TABLE = {"rows": 200_000.0, "looked_up": 0.0, "looked_up_per_item": 1.0, "work": 600.0,
         "rest": 100.0, "rest_per_item": 0.5, "share": 0.8, "since": 0.0}  # fmt: skip


def report_of(make_run, *places, items=200.0, **kind):
    numbers = TABLE | kind
    facts = [(2, Fact("whole_table", place, numbers)) for place in places]
    run = make_run(np.full(SIZE, 0.1), events=facts)
    return account_for(replace(run, steps=replace(run.steps, items=np.full(SIZE, items)))).report


def test_it_is_one_row_with_the_line_and_the_rows(make_run):
    report = report_of(make_run, PLACE)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(30.0)
    assert (cause.place.file, cause.place.line) == ("towers.py", 41)
    assert f"work on all rows of a table: {PLACE}" in report.headline
    assert cause.summary == (
        "Each step computes on all 200,000 rows of a table of which it looks up at most 200, in "
        f"{PLACE}, so the gradient is made for all of them, too."
    )
    assert "tf.gather(table, ids), axis=1" in cause.advice[0].code


def test_a_penalty_is_of_the_rows_that_are_looked_up(make_run):
    (cause,) = report_of(make_run, PLACE, regularized=1.0).causes
    assert "activity_regularizer" in cause.advice[0].text


def test_a_gradient_made_dense_is_told_as_such(make_run):
    (cause,) = report_of(make_run, PLACE, made_dense=1.0).causes
    assert cause.summary == (
        "Each step makes a gradient of all 200,000 rows of a table of which it looks up at most "
        f"200, in {PLACE}, and computes with that."
    )
    assert "total.scatter_add(gradient)" in cause.advice[0].code


def test_two_lines_are_two_rows(make_run):
    report = report_of(make_run, PLACE, "Users.call (towers.py:60)")
    assert [cause.place.line for cause in report.causes] == [41, 60]
    assert report.lost_seconds == pytest.approx(30.0 + 7.5)


def test_without_the_size_of_a_batch_no_number_is_told(make_run):
    (cause,) = report_of(make_run, PLACE, items=np.nan).causes
    assert "of which it looks up a few, in" in cause.summary


def test_an_order_of_all_rows_has_what_draws_a_few(make_run):
    numbers = {"rows": 400_000.0, "taken": 256.0, "share": 0.6, "since": 0.0}
    run = make_run(np.full(SIZE, 0.1), events=[(2, Fact("drawn_rows", PLACE, numbers))])
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(24.0)
    assert cause.summary == (
        f"Each step puts all 400,000 rows in an order, and takes 256 of them, in {PLACE}."
    )
    assert "tf.random.uniform(" in cause.advice[0].code


def test_numbers_that_are_sorted_for_the_largest_have_what_asks_for_these(make_run):
    numbers = {"rows": 8192.0, "taken": 32.0, "largest": 1.0, "share": 0.6, "since": 0.0}
    run = make_run(np.full(SIZE, 0.1), events=[(2, Fact("drawn_rows", PLACE, numbers))])
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(24.0)
    assert cause.summary == f"Each step sorts 8,192 numbers, and takes 32 of them, in {PLACE}."
    assert "tf.math.top_k(losses, k=32)" in cause.advice[0].code
