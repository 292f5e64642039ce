"""A loop over examples is one row, with its line and what computes them at once."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "loss_of_one (align.py:12)"


def test_it_is_one_row_with_the_line(make_run):
    numbers = {"times": 64.0, "share": 0.75, "since": 0.0}
    run = make_run(np.full(400, 0.01), events=[(2, Fact("independent_rounds", PLACE, numbers))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(3.0)
    assert (cause.place.file, cause.place.line) == ("align.py", 12)
    assert cause.summary == (
        f"Each step goes through a loop of 64 rounds in its graph, in {PLACE}. Each round starts "
        "its own operations, and needs nothing of the others."
    )
    assert "tf.vectorized_map" in cause.advice[0].code


def test_a_loop_of_python_is_told_as_such(make_run):
    numbers = {"times": 24.0, "share": 0.5, "since": 0.0}
    run = make_run(np.full(400, 0.01), events=[(2, Fact("unrolled_rounds", PLACE, numbers))])
    (cause,) = account_for(run).report.causes
    assert cause.lost_seconds == pytest.approx(2.0)
    assert cause.summary == (
        "Each step computes the same 24 times, for one piece of a tensor after the other, from "
        f"{PLACE} on: a loop of Python puts the operations of all of its rounds into the graph. "
        "No round needs anything of the others."
    )
    assert "tf.vectorized_map" in cause.advice[0].code
