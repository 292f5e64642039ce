"""A dataset that each epoch makes of the one before is told by its stages, with their function."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

EPOCHS, EPOCH = 12, 40
SIZE = EPOCHS * EPOCH
WHICH = np.arange(SIZE) // EPOCH
WAIT = np.where(np.arange(SIZE) % EPOCH == 0, 0.2 * WHICH, 0.0)


def report_of(make_run, pipeline_of, wait=WAIT):
    events = []
    for epoch in range(EPOCHS):
        row = epoch * EPOCH
        events.append((row, Fact("input_pipeline", pipeline_of(epoch))))
        events.append((row, Fact("input_function", "augment (train.py:24)", {"buffered": 1.0})))
    return account_for(make_run(0.02 + wait, accounts={"input_wait": wait}, events=events)).report


def wrapped(epoch):
    return "TensorSlice" + " Map Shuffle" * (epoch + 1) + " Batch Prefetch"


def test_the_stages_of_first_and_last_pass_are_told_with_their_function(make_run):
    report = report_of(make_run, wrapped)
    (cause,) = (each for each in report.causes if each.cause == "input_pipeline")
    assert cause.summary.endswith("has its stages, too: 5 in the first pass, 27 in the last.")
    assert (cause.place.file, cause.place.line) == ("train.py", 24)
    assert report.headline.endswith(
        "a pipeline that gets longer in each pass: augment (train.py:24)."
    )
    assert "It got longer 11 times." in cause.evidence[2]


@pytest.mark.parametrize(
    "pipeline_of",
    [
        lambda epoch: "TensorSlice Map Shuffle Batch",
        lambda epoch: "TensorSlice Map Shuffle Batch" + " Prefetch" * (epoch > 5),
        lambda epoch: ("TensorSlice Map Batch", "Range Map Shuffle Filter Batch")[epoch % 2],
        lambda epoch: "TensorSlice" + " Concatenate" * epoch + " Batch",
    ],
    ids=["the same", "once longer", "two in turns", "more data"],
)
def test_pipelines_that_stay_as_they_are_have_another_reason(make_run, pipeline_of):
    report = report_of(make_run, pipeline_of)
    assert "gets longer" not in report.headline
    assert "input wait" in report.headline


def test_a_wait_that_was_there_before_has_another_reason(make_run):
    report = report_of(make_run, wrapped, np.where(WHICH < 1, 0.5, 0.01))
    assert "gets longer" not in report.headline
