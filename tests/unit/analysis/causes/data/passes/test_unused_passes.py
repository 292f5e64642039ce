"""Passes without a step are the reason of the wait where they took most of it."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

SIZE, EPOCH = 400, 40
FIRST = np.arange(SIZE) % EPOCH == 0
WAIT = np.where(FIRST, 1.0, 0.0)


def report_of(make_run, passes, seconds):
    numbers = {"passes": float(passes), "batches": 63.0 * passes, "seconds": seconds}
    fact = Fact("unused_pass", "main (train.py:24)", numbers)
    run = make_run(0.02 + WAIT, accounts={"input_wait": WAIT}, events=[(SIZE - 1, fact)])
    return account_for(run).report


def test_the_line_is_told_with_what_to_do_instead(make_run):
    report = report_of(make_run, 10, 9.0)
    (cause,) = (each for each in report.causes if each.cause == "input_pipeline")
    assert (cause.place.file, cause.place.line) == ("train.py", 24)
    assert report.headline.endswith("passes without a step: main (train.py:24).")
    assert cause.summary.startswith("10 times, the program goes through 63 batches of a dataset")
    assert "9.00 s was spent in these passes" in cause.evidence[0]
    assert "cardinality()" in cause.advice[1].code


@pytest.mark.parametrize(("passes", "seconds"), [(10, 2.0), (2, 9.0)], ids=["little", "not often"])
def test_it_is_another_wait_where_they_took_little(make_run, passes, seconds):
    report = report_of(make_run, passes, seconds)
    assert "without a step" not in report.headline
    assert "input wait" in report.headline
