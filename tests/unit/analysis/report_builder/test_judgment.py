"""What is known of a run adds up, and what is not yet judged changes no verdict."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import open_case
from tb_slowdown_plugin.analysis.report_builder.judgment import judge
from tb_slowdown_plugin.analysis.types import UNEXPLAINED, Finding
from tb_slowdown_plugin.reader.logdir import read_runs

RECORDINGS = Path(__file__).resolve().parents[3] / "recordings"


def test_each_claimed_cause_has_its_seconds(make_run):
    (run,) = read_runs(str(RECORDINGS / "retracing_number"), warn=print)
    judgment = judge(open_case(run), ())
    claimed = {claim.cause for claim in judgment.found.claims}
    assert "retracing" in claimed
    assert set(judgment.per_cause) == claimed | {UNEXPLAINED}
    left = judgment.per_cause[UNEXPLAINED].sum()
    assert left == pytest.approx(judgment.unexplained_seconds, abs=1e-9)
    assert judgment.verdict == "slowdown"


def test_what_is_pending_is_unexplained_and_no_verdict(make_run):
    case = open_case(make_run(np.full(400, 0.010)))
    lost = np.where(np.arange(400) >= 380, 0.005, 0.0)
    pending = (Finding("core", "level_shift", (380, 399), 0.1, lost, "low"),)
    judgment = judge(case, pending)
    assert judgment.verdict == judge(case, ()).verdict == "healthy"
    assert judgment.unexplained_seconds == pytest.approx(0.1)
    assert judgment.per_cause == {UNEXPLAINED: pytest.approx(lost)}
