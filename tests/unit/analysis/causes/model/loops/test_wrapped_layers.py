"""A layer that is called for each step of a sequence is one row, with what to do instead."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "TimeDistributed (tides.py:31)"


@pytest.mark.parametrize("name", ["pieces", "unrolled_rounds"])
def test_it_is_one_row_whichever_of_its_costs_is_larger(make_run, name):
    numbers = {"times": 96.0, "grown": 0.0, "rolled": 0.0, "wrapped": 1.0, "share": 0.5}
    run = make_run(np.full(400, 0.01), events=[(2, Fact(name, PLACE, numbers | {"since": 0.0}))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("tides.py", 31)
    assert cause.summary.startswith("Each step calls a layer 96 times, for one step of its")
    assert "x = keras.layers.Dense(48)(x)" in cause.advice[0].code.splitlines()[-1]
