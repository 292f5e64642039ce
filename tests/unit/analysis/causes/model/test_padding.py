"""Padding is one row, with what it is counted to take, and the line that pads."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "call (letters.py:14)"
WORK = Fact("sequence_work", PLACE, {"columns": 256.0, "share": 0.5, "squared": 0.4, "since": 0.0})
MADE = {"columns": 256.0, "used": 64.0, "longest": 70.0, "batches": 8.0}
SEEN = Fact("padded_batch", "", MADE)


def causes_of(make_run, *facts):
    return account_for(make_run(np.full(400, 0.01), events=[(2, each) for each in facts])).report


def test_it_is_one_row_with_the_line_and_what_columns_take(make_run):
    report = causes_of(make_run, WORK, SEEN)
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(4.0 * (0.5 * 0.75 + 0.4 * (1 - 0.25**2)))
    assert (cause.place.file, cause.place.line) == ("letters.py", 14)
    assert cause.summary == (
        "Batches have 256 columns, of which 64 on average are used by the longest example of the "
        f"batch. The rest is padding, and computed, most of it in {PLACE}."
    )
    assert (
        "The longest example in 8 batches that were looked at had 70 columns" in cause.evidence[0]
    )


def test_the_line_is_the_one_that_pads(make_run):
    pads = Fact("stage_at", "letters.py:5", {"PaddedBatch": 2.0})
    (cause,) = causes_of(make_run, WORK, SEEN, pads).causes
    assert (cause.place.file, cause.place.line) == ("letters.py", 5)


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (Fact("input_pipeline", "Generator PaddedBatch Prefetch"), "bucket_by_sequence_length"),
        (Fact("input_pipeline", "TensorSlice Map Batch", {"arrays": 1.0}), "model.fit(x[:, :"),
    ],
)
def test_the_advice_is_for_what_makes_the_batches(make_run, made, code):
    (cause,) = causes_of(make_run, made, WORK, SEEN).causes
    assert code in cause.advice[0].code


@pytest.mark.parametrize(
    "facts",
    [
        [WORK],
        [SEEN],
        [WORK, Fact("padded_batch", "", {**MADE, "columns": 300.0})],
        [WORK, SEEN, Fact("padded_batch", "", {**MADE, "used": 250.0})],
    ],
    ids=["no batch seen", "no work", "of others", "later ones are used"],
)
def test_without_padding_there_is_no_row(make_run, facts):
    assert causes_of(make_run, *facts).causes == ()
