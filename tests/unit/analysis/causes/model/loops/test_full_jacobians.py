"""A Jacobian of which the diagonal is used is one row, with the gradient that is the same."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "derivatives (plate.py:60)"


@pytest.mark.parametrize(
    ("numbers", "told"),
    [
        ({"side": 160.0, "times": 2.0}, "all 160 outputs by all 160 inputs, twice, and uses"),
        ({"side": 1200.0, "times": 1.0}, "all 1,200 outputs by all 1,200 inputs, and uses"),
        ({"side": 40.0, "times": 3.0}, "all 40 outputs by all 40 inputs, 3 times, and uses"),
    ],
)
def test_it_is_one_row_with_the_line(make_run, numbers, told):
    fact = Fact("full_jacobian", PLACE, numbers | {"share": 0.5, "since": 0.0})
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("plate.py", 60)
    assert told in cause.summary
    assert cause.advice[0].code.splitlines()[-1] == "+ u_x = tape.gradient(u, x)"
