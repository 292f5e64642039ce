"""Double precision is a note, and in the headline of a healthy run; it is no cause."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


def report_of(make_run, *facts):
    return account_for(make_run(np.full(400, 0.1), events=[(2, fact) for fact in facts])).report


def test_it_is_told_with_its_first_line_and_costs_nothing(make_run):
    fact = Fact("double_precision", "step (train.py:41)", {"share": 0.9, "since": 0.0})
    report = report_of(make_run, fact)
    assert (report.verdict, report.causes) == ("healthy", ())
    assert report.headline.startswith("No slowdown found in 40.0 s. But its graph computes in ")
    (note,) = (each for each in report.notes if "float64" in each)
    assert note.startswith("90% of what the step's graph computes is in `float64`")
    assert "step (train.py:41)" in note


def test_without_it_nothing_is_told(make_run):
    report = report_of(make_run)
    assert "float64" not in " ".join([report.headline, *report.notes])
