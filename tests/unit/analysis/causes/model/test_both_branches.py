"""What one step in many uses, and all compute, is one row with its line."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "Kron._root_for (kron.py:31)"


def test_it_is_one_row_with_the_line(make_run):
    numbers = {"every": 25.0, "share": 0.5, "since": 0.0}
    run = make_run(np.full(400, 0.01), events=[(2, Fact("both_branches", PLACE, numbers))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("kron.py", 31)
    assert cause.summary.startswith(
        "Each step computes what a condition uses in one step of 25 only,"
    )
    assert "tf.cond(due, lambda: inverse_root(matrix), lambda: root)" in cause.advice[0].code
