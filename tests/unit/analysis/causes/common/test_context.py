"""What a rule asks of a run: findings by account, seconds, signals, sentences."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.common import context
from tb_slowdown_plugin.analysis.causes.common.context import (
    Case,
    largest,
    lost_seconds,
    span,
    stalls_of,
)
from tb_slowdown_plugin.analysis.prepare.step_kinds import find_kinds
from tb_slowdown_plugin.analysis.report_builder import account
from tb_slowdown_plugin.analysis.types import Baseline, Diagnosis, Ledger
from tb_slowdown_plugin.records.types import Fact, GcPause

SIZE = 100


@pytest.fixture
def case(make_run, find):
    some = np.where(np.arange(SIZE) >= 90, 0.01, 0.0)
    unexplained = np.where(np.arange(SIZE) == 50, 0.5, 0.0)
    findings = (
        find("gc", "periodic", some),
        find("core", "drift", 2 * some),
        find("tracing:again", "one_off", some),
        find("core", "warm_up", some),
    )
    run = make_run(
        np.full(SIZE, 0.1),
        accounts={"callback:A": np.full(SIZE, 0.01), "callback:B": np.full(SIZE, 0.03)},
        signals={"rss_bytes": [1.0, np.nan, 3.0]},
        signal_rows=[0, 40, 80],
        events=[(3, GcPause(2, 0.1, 0)), (4, GcPause(2, 0.1, 0, True)), (5, Fact("x", "y", {}))],
        numbers=np.arange(1000, 1000 + SIZE),
    )
    diagnosis = Diagnosis(
        "slowdown", Baseline(0.1, "", (0, 99)), Ledger(10.0, 9.0, {}, 0.5), findings, 2,
        np.full(SIZE, 0.1), unexplained,
    )  # fmt: skip
    return Case(run, diagnosis, findings, ())


def test_findings_are_chosen_by_family_without_warm_up(case):
    assert [finding.source for finding in case.of("gc", "tracing")] == ["gc", "tracing:again"]
    assert [finding.pattern for finding in case.core()] == ["drift"]


def test_seconds_of_a_family_or_of_one_account(case):
    assert case.account("callback").sum() == pytest.approx(4.0)
    assert case.account("callback", "A").sum() == pytest.approx(1.0)
    assert case.details("callback") == (("B", pytest.approx(3.0)), ("A", pytest.approx(1.0)))
    assert not case.account("gc").any()


def test_a_signal_has_only_what_was_measured(case):
    rows, values = case.signal("rss_bytes")
    assert (rows.tolist(), values.tolist()) == ([0, 80], [1.0, 3.0])
    assert len(case.signal("none")[0]) == 0


def test_steps_are_told_by_their_numbers(case):
    assert case.step_text(5) == "step 1,005"
    assert case.steps_text((5, 9)) == "steps 1,005\u20131,009"
    assert case.steps_text((5, 5)) == "step 1,005"
    assert case.step(10**6) == 1099


def test_of_steps_that_are_counted_anew_a_range_has_the_least_and_the_largest(make_run):
    """Each epoch begins at 0: from step 82 of one to step 5 of the next one."""
    run = make_run(np.full(SIZE, 0.1), numbers=np.arange(SIZE) % 50)
    case = Case(run, None, (), ())
    assert case.steps((42, 55)) == (0, 49)
    assert case.steps_text((42, 55)) == "steps 0\u201349"
    assert case.steps((42, 48)) == (42, 48)


def test_events_of_the_training_thread(case):
    assert [row for row, _ in case.gc_pauses()] == [3]
    assert [row for row, _ in case.run.facts("x")] == [5]
    assert case.wall_share(2.5) == 0.25


def test_sums_over_findings(case):
    found = case.of("gc", "core")
    assert lost_seconds(found) == pytest.approx(0.3)
    assert largest(found).source == "core"
    assert span(found) == (90, 99)
    (stall,) = stalls_of(case.diagnosis)
    assert (stall.rows, stall.lost_seconds) == ((50, 50), 0.5)


def test_how_steps_may_be_compared_is_sought_once_for_a_report(make_run, monkeypatch):
    sought = []

    def find(run):
        sought.append(run)
        return find_kinds(run)

    monkeypatch.setattr(account, "find_kinds", find)
    monkeypatch.setattr(context, "find_kinds", find)
    run = make_run(np.full(400, 0.01))
    account.account_for(run)
    assert len(sought) == 1
    assert Case(run, None, (), ()).comparable.are_found is False
    assert len(sought) == 2
