"""A tensor that is moved as a whole for each piece is one row, with its line and a way around."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "decode (captions.py:31)"


@pytest.mark.parametrize(
    ("grown", "rolled", "told", "instead"),
    [
        (0.0, 0.0, f"Each step takes 160 slices of one tensor, in {PLACE}.", "tf.unstack("),
        (0.0, 1.0, f"Each step takes 160 slices of one tensor, in {PLACE}.", ".read(t)"),
        (1.0, 1.0, "Each step goes through a loop of 160 rounds in its graph", ".write(t, state)"),
    ],
)
def test_it_is_one_row_with_the_line(make_run, grown, rolled, told, instead):
    numbers = {"times": 160.0, "grown": grown, "rolled": rolled, "share": 0.6, "since": 0.0}
    run = make_run(np.full(400, 0.01), events=[(2, Fact("pieces", PLACE, numbers))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.4)
    assert (cause.place.file, cause.place.line) == ("captions.py", 31)
    assert cause.summary.startswith(told)
    assert instead in cause.advice[0].code
