"""A precision that is slow is a note, and in the headline of a healthy run; it is no cause."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Environment, Fact


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


@pytest.mark.parametrize(
    ("devices", "told"),
    [
        ((("CPU:0", "CPU"),), 1),
        ((("CPU:0", "CPU"), ("GPU:0", "NVIDIA H200")), 0),
        ((), 0),
    ],
    ids=["CPU", "GPU", "devices not known"],
)
def test_half_precision_is_told_where_there_is_only_a_cpu(make_run, devices, told):
    fact = Fact("float16_work", "train.py:41", {"share": 0.8, "since": 0.0})
    run = make_run(np.full(400, 0.1), events=[(2, fact)])
    report = account_for(replace(run, environment=Environment(devices=devices))).report
    assert (report.verdict, report.causes) == ("healthy", ())
    assert report.headline.count("But its graph computes in `float16`") == told
    notes = [each for each in report.notes if "`float16`, at first in train.py:41." in each]
    assert len(notes) == told
    assert all(note.startswith("80% of what") and "up to 7 times" in note for note in notes)
