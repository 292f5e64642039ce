"""Each finding is in one group, and what no group of healthy ones takes is lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common.context import Case
from tb_slowdown_plugin.analysis.causes.sorted_findings import (
    judge_sorted,
    sort_findings,
    tell_healthy,
)
from tb_slowdown_plugin.analysis.types import Baseline, Diagnosis, Ledger

SIZE = 600
STEP = 0.01
ALL = np.arange(SIZE)


@pytest.fixture
def sorted_of(make_run):
    """The case of a run with these findings, and where they went."""

    def sort(*findings):
        lost = sum((each.lost_per_step for each in findings), np.zeros(SIZE))
        period = STEP + lost
        wall = float(period.sum())
        ledger = Ledger(wall, SIZE * STEP, {}, 0.0)
        baseline = Baseline(STEP, "level of the whole run", (0, SIZE - 1))
        healthy = np.full(SIZE, STEP)
        diagnosis = Diagnosis("slowdown", baseline, ledger, findings, 0, healthy, np.zeros(SIZE))
        case = Case(make_run(period), diagnosis, findings, ())
        return case, sort_findings(case)

    return sort


def test_each_finding_is_in_one_group(sorted_of, find):
    wait = find("input_wait", "periodic", np.where(ALL % 10 == 9, 0.05, 0.0))
    planned = find("core", "periodic", np.where(ALL % 8 == 7, 0.003, 0.0), period_steps=8.0)
    slower = find("core", "level_shift", 0.003 * (ALL >= 400), growth_fraction=0.3)
    unknown = find("core", "level_shift", 0.03 * (ALL >= 300), growth_fraction=3.0)
    case, found = sorted_of(wait, planned, slower, unknown)
    assert [claim.cause for claim in found.claims] == ["input_pipeline"]
    assert found.claims[0].findings == (wait,)
    assert (found.planned, found.slower, found.rest) == ((planned,), (slower,), (unknown,))
    assert (found.longer, found.healthy) == ((slower,), (slower, planned))
    assert len(list(tell_healthy(case, found))) == 2
    assert judge_sorted(case, found) == "slowdown"


def test_what_is_healthy_alone_is_no_slowdown(sorted_of, find):
    slower = find("core", "level_shift", 0.003 * (ALL >= 400), growth_fraction=0.3)
    case, found = sorted_of(slower)
    assert (found.claims, found.rest) == ((), ())
    assert judge_sorted(case, found) == "healthy"
    lost = replace(found, slower=(), rest=(slower,))
    assert judge_sorted(case, lost) == "slowdown"
