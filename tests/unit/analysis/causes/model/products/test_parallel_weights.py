"""Weights that are used one by one are one row, with the layer or the table instead."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


@pytest.mark.parametrize(
    ("lookups", "told", "code"),
    [
        (0.0, "multiplies one tensor by 60 weights, one by one", "layers.Dense(60)(features)"),
        (1.0, "looks up rows in 60 tables, one after the other", "layers.Embedding(60 * rows, 8)"),
    ],
)
def test_it_is_one_row_with_the_line(make_run, lookups, told, code):
    numbers = {"times": 60.0, "lookups": lookups, "share": 0.5, "since": 0.0}
    fact = Fact("parallel_weights", "Dense (tags.py:12)", numbers)
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("tags.py", 12)
    assert told in cause.summary
    assert code in cause.advice[0].code
