"""What a change of the program brought back, in events and seconds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tb_slowdown_plugin.analysis.compare.cause_changes import CauseChange, find_changes
from tb_slowdown_plugin.analysis.compare.comparison import compare
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term, ledger_of
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.report.comparison import comparison_json, comparison_text


def ledger(seconds: float, retraces: int, steps: int = 1200, cause: str = "retracing") -> RunLedger:
    return RunLedger(
        run="run",
        steps=steps,
        step=Term(0.1 + seconds, 0.0),
        quiet=Term(0.1, 0.0),
        terms={"healthy": Term(0.1, 0.0), cause: Term(seconds, 0.0)},
        warm_up_seconds=0.0,
        events={"retracing": retraces},
    )


def test_retraces_that_went_bring_their_seconds_back() -> None:
    found = list(find_changes(["healthy", "retracing"], [ledger(0.1, 45)], [ledger(0.004, 0)]))
    text = "Retracing: retraces 45 to 0, 1 min 55 s back."
    assert found == [CauseChange("retracing", 45.0, 0.0, pytest.approx(115.2), text)]


def test_sides_of_other_lengths_are_told_in_steps_of_the_first() -> None:
    (change,) = find_changes(["retracing"], [ledger(0.1, 45)], [ledger(0.0, 2, steps=600)])
    assert change.text == (
        "Retracing: retraces 45 in 1,200 steps to 2 in 600, 2 min 0 s back in 1,200 steps."
    )


def test_repeats_count_as_their_mean() -> None:
    base = [ledger(0.1, 45), ledger(0.2, 55)]
    (change,) = find_changes(["retracing"], base, [ledger(0.0, 0)])
    assert (change.before, change.seconds) == (50.0, pytest.approx(180.0))


def test_a_cause_without_events_and_one_that_came() -> None:
    waits = ledger(0.05, 0, cause="input_pipeline")
    (change,) = find_changes(["input_pipeline"], [ledger(0.0, 0)], [waits])
    assert change == CauseChange(
        "input_pipeline", None, None, pytest.approx(-60.0),
        "Input pipeline: 1 min 0 s more lost.",
    )  # fmt: skip


def test_chance_brings_nothing_back() -> None:
    same = [ledger(0.1, 45), ledger(0.1, 45)]
    assert compare(same, same).changes == ()


def test_what_one_run_a_side_cannot_tell_is_told_of_events_that_went() -> None:
    noisy = replace(ledger(0.1, 45), step=Term(0.2, 0.05), quiet=Term(0.1, 0.02))
    fixed = replace(ledger(0.0, 0), step=Term(0.1, 0.05), quiet=Term(0.1, 0.02))
    comparison = compare([noisy], [fixed])
    assert comparison.outcome == "not_enough_repeats"
    (change,) = comparison.changes
    assert change.text == "Retracing: retraces 45 to 0, 2 min 0 s back."
    as_many = replace(fixed, events={"retracing": 40})
    assert compare([noisy], [as_many]).changes == ()


def test_the_recorded_program_and_its_repaired_form() -> None:
    recordings = Path(__file__).resolve().parents[3] / "recordings"
    sides = []
    for name in ("retracing_number", "retracing_number_healthy"):
        (run,) = read_runs(str(recordings / name), warn=print)
        account = account_for(run)
        sides.append((ledger_of(run, account), len(account.marks["retraces"][0])))
    (slow, retraces), (fast, others) = sides
    assert retraces > 10 > others
    comparison = compare([slow], [fast])
    assert comparison.outcome == "faster"
    change = next(each for each in comparison.changes if each.cause == "retracing")
    assert (change.before, change.now) == (retraces, others)
    lost = slow.terms["retracing"].seconds * slow.steps
    assert change.seconds == pytest.approx(lost, rel=0.1)
    assert change.text in " ".join(comparison_text(comparison, width=1000).split("\n"))
    assert json.loads(comparison_json(comparison))["changes"][0]["before"] == retraces
    back = compare([fast], [replace(slow)]).changes
    assert next(each for each in back if each.cause == "retracing").seconds < 0
