"""A matrix that is factorized twice is one row, with the line, its size, and the factor."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


def test_it_is_one_row_with_the_line_and_the_size(make_run):
    numbers = {"times": 2.0, "side": 320.0, "share": 0.5, "since": 0.0}
    fact = Fact("factorizations", "likelihood (kriging.py:50)", numbers)
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("kriging.py", 50)
    assert "a matrix of 320 x 320 2 times" in cause.summary
    assert "tf.linalg.cholesky_solve(factor, vectors)" in cause.advice[0].code
