"""Matrices that are multiplied in the longer order are one row, with the line and both counts."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


def test_it_is_one_row_with_the_line_and_what_both_orders_take(make_run):
    numbers = {"products": 167_000_000.0, "needed": 13_500_000.0, "share": 0.4, "since": 0.0}
    fact = Fact("product_order", "convolve (papers.py:27)", numbers)
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(1.6)
    assert (cause.place.file, cause.place.line) == ("papers.py", 27)
    assert "167,000,000 products of numbers" in cause.summary
    assert "they are 13,500,000." in cause.summary
    assert "adjacency @ (states @ weights)" in cause.advice[0].code
