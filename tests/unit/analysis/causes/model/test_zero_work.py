"""What is zero whatever is fed is one row, with its line and what to write instead."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


@pytest.mark.parametrize(
    ("sign", "subject", "code"),
    [
        (1.0, "gradients through `tf.sign`", "tf.stop_gradient(tf.sign(gradient))"),
        (0.0, "what is multiplied by zero", "if weight:"),
    ],
)
def test_it_is_one_row_with_the_line(make_run, sign, subject, code):
    numbers = {"sign": sign, "share": 0.3, "since": 0.0}
    fact = Fact("zero_work", "harden (pearls.py:27)", numbers)
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert (cause.cause, cause.pattern, report.verdict) == ("backward_pass", "flat", "slowdown")
    assert cause.lost_seconds == pytest.approx(1.2)
    assert (cause.place.file, cause.place.line) == ("pearls.py", 27)
    assert subject in report.headline
    assert code in cause.advice[0].code
