"""Optimizers that are made again, and updates that take longer: which of both is told first."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.steady_steps import SIZE, STEP, at

from tb_slowdown_plugin.records.types import Fact

MADE = (
    "The program re-creates the optimizer during training, and each new one allocates its "
    "slot variables again."
)
LONGER = "Optimizer updates keep getting slower."


@pytest.fixture
def cause_of(make_run, find, judge):
    """What is named where making optimizers and growth of the update take such seconds."""

    def cause(making, growing):
        rows = np.arange(20, SIZE, 20)
        spent, grown = at(rows, making), np.linspace(0.0, growing, SIZE)
        run = make_run(
            STEP + spent + grown,
            accounts={"optimizer_creation": spent, "optimizer": 0.004 + grown},
            # Making and building are two facts of one step.
            events=[(int(row), Fact("optimizer_created", "Adam")) for row in rows for _ in "ab"],
        )
        findings = [find("optimizer_creation", "periodic", spent)] if making else []
        if growing:
            drift = find("core", "drift", grown, confidence="medium", **{"share:optimizer": 1.0})
            findings.append(drift)
        account = judge(run, *findings)
        (named,) = account.report.causes
        return named, account.report.headline

    return cause


def test_an_optimizer_that_is_made_again_is_counted_by_steps_and_needs_no_fewer_updates(cause_of):
    cause, headline = cause_of(0.1, 0.0)
    assert cause.summary == MADE
    assert headline.endswith(" re-creating the optimizer.")
    assert cause.evidence[-1] == "`Adam` was re-created or rebuilt in 29 steps of the run."
    assert [each.text.split()[0] for each in cause.advice] == ["Create"]


def test_the_larger_of_both_is_told_first(cause_of):
    cause, headline = cause_of(0.1, 0.1)
    assert cause.summary == f"{LONGER} {MADE}"
    assert headline.endswith(" slower optimizer updates.")
    assert [each.text.split()[0] for each in cause.advice] == ["Create", "Accumulate"]
    cause, headline = cause_of(0.5, 0.01)
    assert cause.summary == f"{MADE} {LONGER}"
    assert headline.endswith(" re-creating the optimizer.")
