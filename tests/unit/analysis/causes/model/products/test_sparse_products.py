"""Products with zeros are one row, with the line and what gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE = 400
PLACE = "normalize (graphs.py:41)"


@pytest.mark.parametrize(
    ("diagonal", "kind", "code"),
    [
        (1.0, "a diagonal matrix", "d[:, None] * a * d[None, :]"),
        (0.0, "a one-hot encoding", "tf.gather(table, ids)"),
    ],
)
def test_it_is_one_row_with_the_line(make_run, diagonal, kind, code):
    numbers = {"columns": 1_000.0, "diagonal": diagonal, "share": 0.25, "since": 0.0}
    run = make_run(np.full(SIZE, 0.1), events=[(2, Fact("sparse_product", PLACE, numbers))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(10.0)
    assert (cause.place.file, cause.place.line) == ("graphs.py", 41)
    assert cause.summary == (
        f"Each step multiplies by {kind} of 1,000 columns, in {PLACE}: all numbers but one in each "
        "row are zero."
    )
    assert code in cause.advice[0].code


def test_a_matrix_of_zeros_has_what_makes_it_sparse(make_run):
    numbers = {"rows": 2_000.0, "columns": 2_000.0, "filled": 0.002, "share": 0.5, "since": 0.0}
    run = make_run(np.full(SIZE, 0.1), events=[(2, Fact("zero_matrix", PLACE, numbers))])
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(20.0)
    assert cause.summary == (
        "Each step multiplies by a matrix of 2,000 rows and 2,000 columns, of whose numbers 99.8% "
        f"are zero, in {PLACE}."
    )
    assert "tf.sparse.from_dense(" in cause.advice[0].code
