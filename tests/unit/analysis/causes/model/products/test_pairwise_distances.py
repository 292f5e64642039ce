"""Distances by all differences are one row, with the line and what gives the same."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "Quantizer.call (vq.py:49)"


def test_they_are_one_row_with_the_line(make_run):
    numbers = {"numbers": 1_048_576.0, "share": 0.5, "since": 0.0}
    fact = Fact("pairwise_distances", PLACE, numbers)
    report = account_for(make_run(np.full(400, 0.1), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(20.0)
    assert (cause.place.file, cause.place.line) == ("vq.py", 49)
    assert report.headline.endswith(f"to distances by all differences: {PLACE}.")
    assert cause.summary == (
        "Each step takes the differences of all pairs of rows, 1,048,576 numbers, in "
        f"{PLACE}, and adds up their squares."
    )
    assert "tf.matmul(a, b, transpose_b=True)" in cause.advice[0].code


def test_products_of_all_pairs_have_that_of_matrices_instead(make_run):
    numbers = {"numbers": 1_048_576.0, "products": 1.0, "share": 0.5, "since": 0.0}
    fact = Fact("pairwise_distances", PLACE, numbers)
    (cause,) = account_for(make_run(np.full(400, 0.1), events=[(2, fact)])).report.causes
    assert cause.summary.startswith("Each step multiplies all pairs of rows, 1,048,576 numbers, in")
    assert cause.advice[0].code.splitlines()[-1] == "+ alike = tf.matmul(a, b, transpose_b=True)"
