"""Rows that are computed and not taken are one row, with the line and what to take first."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact

PLACE = "Tagger.call (tags.py:31)"


@pytest.mark.parametrize(
    ("of", "diagonal", "told", "instead"),
    [
        (0.0, 0.0, "computes 1,280 rows, of which it takes 32", "head(states[:, -1])"),
        (
            1.0,
            0.0,
            "computes a product of 1,280 numbers, of which it takes 32",
            "tf.einsum('bd,bkd->bk', users, tf.gather(items, ids))",
        ),
        (
            1.0,
            1.0,
            "computes a product of 1,280 numbers, of which it takes the 32 of the diagonal",
            "tf.reduce_sum(a * b, axis=-1)",
        ),
    ],
)
def test_it_is_one_row_with_the_line(make_run, of, diagonal, told, instead):
    kind = {"numbers": of, "diagonal": diagonal}
    numbers = {"made": 1280.0, "taken": 32.0, **kind, "share": 0.6, "since": 0.0}
    run = make_run(np.full(400, 0.01), events=[(2, Fact("untaken_rows", PLACE, numbers))])
    report = account_for(run).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(2.4)
    assert (cause.place.file, cause.place.line) == ("tags.py", 31)
    assert cause.summary == f"Each step {told}, in {PLACE}."
    assert instead in cause.advice[0].code
