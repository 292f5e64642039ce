"""A claim becomes a row: its place among those of its cause, and the line where none was named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Claim
from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.analysis.report_builder.cause_rows import make_rows
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.analysis.types import Finding

LOST = np.full(100, 0.001)


def claim_of(cause, *findings):
    return Claim(cause, findings, f"{cause} here", "It is slow.", ("It was seen.",), ())


def found(source, rows, confidence="high"):
    size = rows[1] - rows[0] + 1
    return Finding(source, "flat", rows, size * 0.001, LOST, confidence)


@pytest.fixture
def case(make_run):
    return open_case(make_run(np.full(100, 0.010), numbers=np.arange(500, 600)))


def test_rows_of_one_cause_are_numbered(case):
    causes = ("callbacks", "gc", "callbacks", "callbacks")
    claims = [claim_of(cause, found("core", (0, 49))) for cause in causes]
    assert [(row.cause, row.rank) for row in make_rows(case, claims, ())] == [
        ("callbacks", 1), ("gc", 1), ("callbacks", 2), ("callbacks", 3)
    ]  # fmt: skip


def test_seconds_add_up_and_the_largest_finding_has_the_confidence(case):
    claim = claim_of("gc", found("gc", (10, 19), "low"), found("core", (30, 69)))
    (row,) = make_rows(case, [claim], ())
    assert row.lost_seconds == pytest.approx(0.05)
    assert row.lost_fraction == pytest.approx(0.05)
    assert (row.confidence, row.steps, row.subject) == ("high", (510, 569), "gc here")


def test_a_line_that_no_text_names_is_told(case):
    claim = replace(claim_of("gc", found("gc", (0, 9))), place=Place("train.py", 41, "step"))
    (row,) = make_rows(case, [claim], ())
    assert row.evidence == ("Where to look: `step (train.py:41)`.", "It was seen.")
    (row,) = make_rows(case, [replace(claim, summary="It is in train.py:41.")], ())
    assert row.evidence == ("It was seen.",)
