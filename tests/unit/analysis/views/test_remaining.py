"""The time that is left is that of the steps to come, as they are now."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.views.remaining import find_remaining
from tb_slowdown_plugin.catalog.events import PLANNED_STEPS
from tb_slowdown_plugin.records.types import Epoch, Fact
from tests.unit.analysis.conftest import find

UNTIL_1000 = (0, Fact(PLANNED_STEPS, "", {"until": 1000.0}))


def remaining(make_run, period, *findings, events=(UNTIL_1000,), warm_up_rows=0):
    run = make_run(period, events=events)
    return find_remaining(run, findings, warm_up_rows)


def test_steady_steps_take_what_they_took(make_run):
    found = remaining(make_run, np.full(400, 0.5))
    assert (found.steps, found.lost_seconds) == (600, 0.0)
    assert found.seconds == pytest.approx(300.0)
    assert found.text == "About 5 min 0 s left (600 steps)."


def test_a_jump_lasts_until_the_end(make_run):
    period = np.r_[np.full(300, 0.1), np.full(100, 0.4)]
    lost = np.r_[np.zeros(300), np.full(100, 0.3)]
    found = remaining(make_run, period, find("core", "level_shift", lost))
    assert found.seconds == pytest.approx(240.0)
    assert found.lost_seconds == pytest.approx(180.0)
    assert found.text == ("About 4 min 0 s left (600 steps), 3 min 0 s of it for what is lost now.")


def test_a_jump_that_is_over_costs_nothing_any_more(make_run):
    period = np.r_[np.full(100, 0.1), np.full(100, 0.4), np.full(200, 0.1)]
    lost = np.r_[np.zeros(100), np.full(100, 0.3), np.zeros(200)]
    found = remaining(make_run, period, find("core", "level_shift", lost))
    assert found.seconds == pytest.approx(60.0)
    assert found.lost_seconds == 0.0


def test_warm_up_and_a_stall_do_not_come_back(make_run):
    period = np.full(400, 0.1)
    period[0], period[200] = 30.0, 250.1
    warm_up, stall = np.zeros(400), np.zeros(400)
    warm_up[0], stall[200] = 29.9, 250.0
    found = remaining(
        make_run, period, find("core", "warm_up", warm_up), find("stalls", "one_off", stall),
    )  # fmt: skip
    assert found.seconds == pytest.approx(60.0)


def test_saves_go_on(make_run):
    period = np.full(400, 0.1)
    period[49::50] += 5.0
    lost = np.zeros(400)
    lost[49::50] = 5.0
    found = remaining(make_run, period, find("checkpoint", "periodic", lost))
    assert found.seconds == pytest.approx(120.0)
    assert found.lost_seconds == pytest.approx(60.0)


def test_validation_comes_at_the_end_of_each_epoch(make_run):
    plan = Fact(PLANNED_STEPS, "", {"epochs": 10.0, "steps": 100.0})
    period = np.full(250, 0.1)
    period[[100, 200]] += 20.0
    events = [(0, plan), (0, Epoch(0)), (100, Epoch(1)), (200, Epoch(2))]
    found = remaining(make_run, period, events=events)
    assert found.steps == 750
    assert found.seconds == pytest.approx(75.0 + 8 * 20.0)


@pytest.mark.parametrize(("steps", "warm_up_rows"), [(9, 0), (400, 395)])
def test_few_steps_say_nothing(make_run, steps, warm_up_rows):
    assert remaining(make_run, np.ones(steps), warm_up_rows=warm_up_rows) is None


def test_without_a_plan_nothing_is_said(make_run):
    assert remaining(make_run, np.ones(400), events=()) is None


def test_the_report_of_a_run_that_turned_slow(make_run):
    rng = np.random.default_rng(0)
    period = np.r_[np.full(300, 0.1), np.full(300, 0.25)] * rng.normal(1.0, 0.02, 600)
    found = account_for(make_run(period, events=[UNTIL_1000])).report.remaining
    assert found.seconds == pytest.approx(400 * 0.25, rel=0.02)
    assert found.lost_seconds == pytest.approx(400 * 0.15, rel=0.1)
