"""A matrix that is factorized twice is one row, with the line, its size, and the factor."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.types import Fact


def judge(make_run, **more):
    numbers = {"times": 2.0, "side": 320.0, "share": 0.5, "since": 0.0, **more}
    fact = Fact("factorizations", "likelihood (kriging.py:50)", numbers)
    report = account_for(make_run(np.full(400, 0.01), events=[(2, fact)])).report
    (cause,) = report.causes
    assert report.verdict == "slowdown"
    return cause


def test_it_is_one_row_with_the_line_and_the_size(make_run):
    cause = judge(make_run, inverse=1.0, eigenvalues=1.0)
    assert (cause.cause, cause.pattern) == ("backward_pass", "flat")
    assert cause.lost_seconds == pytest.approx(2.0)
    assert (cause.place.file, cause.place.line) == ("kriging.py", 50)
    assert "one 320 x 320 matrix twice, the last time in likelihood" in cause.summary
    assert "tf.linalg.eigvalsh(matrix)" in cause.advice[0].code
    assert "3 times" in judge(make_run, times=3.0).summary


@pytest.mark.tensorflow
@pytest.mark.parametrize("kinds", [{"inverse": 1.0}, {"inverse": 1.0, "eigenvalues": 1.0}])
def test_the_code_of_the_advice_gives_the_same(make_run, kinds):
    tf = pytest.importorskip("tensorflow")
    code = judge(make_run, **kinds).advice[0].code
    rows = tf.random.stateless_normal((20, 20), (1, 2), dtype=tf.float64)
    given = {
        "tf": tf,
        "matrix": rows @ tf.transpose(rows) + tf.eye(20, dtype=tf.float64),
        "vectors": rows[:, :3],
    }
    before, after = dict(given), dict(given)
    for mark, names in (("-", before), ("+", after)):
        exec("\n".join(re.findall(rf"^\{mark} (.*)", code, re.MULTILINE)), names)
    for name in ("product", "log_determinant"):
        np.testing.assert_allclose(after[name], before[name], rtol=1e-8)
