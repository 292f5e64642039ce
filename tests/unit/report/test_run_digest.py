"""What a table says of a run: the report's own figures, and what its records tell of it."""

from __future__ import annotations

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.report.run_digest import RunDigest, digest_of


def make_run(*, wait: float = 0.0, items: float = np.nan, count: int = 400) -> Run:
    """Steps of 0.1 s that wait for input from row 200 on."""
    steps = event_files.make_steps(count, seed=1)
    waited = np.where(np.arange(count) >= count // 2, wait, 0.0)
    steps.period_seconds[:] += waited
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    steps.items[:] = items
    steps.accounts["input_wait"] = waited  # type: ignore[index]
    environment = Environment(
        versions={"tensorflow": "2.21.0"},
        devices=(("CPU:0", "CPU"), ("GPU:0", "GPU"), ("GPU:1", "GPU")),
    )
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    return Run("a", steps, no_signals(), (), environment, (session,))


def digest(run: Run) -> RunDigest:
    return digest_of(run, account_for(run))


def test_a_slow_run_tells_its_first_cause_and_since_when() -> None:
    run = make_run(wait=0.1, items=64.0)
    account = account_for(run)
    found = digest_of(run, account)
    assert (found.verdict, found.cause) == ("slowdown", "input_pipeline")
    assert found.lost_fraction == pytest.approx(account.report.lost_fraction, rel=1e-3)
    assert found.lost_seconds == pytest.approx(20.0, rel=0.03)
    assert found.since_step == account.report.causes[0].steps[0] == 200
    assert found.since_seconds == pytest.approx(20.0, rel=0.03)
    assert found.subject == account.report.causes[0].subject != ""
    assert found.steps_per_second == pytest.approx(400 / 60, rel=0.02)
    assert found.items_per_second == pytest.approx(64 * 400 / 60, rel=0.02)
    assert len(found.spark) == 40
    assert found.spark[0] == pytest.approx(0.1, rel=0.1)
    assert found.spark[-1] == pytest.approx(0.2, rel=0.1)
    assert found.settings == {
        "tensorflow": "2.21.0", "devices": "1 CPU, 2 GPU", "items_per_step": 64.0,
    }  # fmt: skip


def test_a_healthy_run_has_no_cause() -> None:
    found = digest(make_run())
    assert (found.verdict, found.cause, found.subject, found.causes) == ("healthy", None, "", ())
    assert found.since_step is None
    assert found.items_per_second is None
    assert found.step_seconds == pytest.approx(0.1, rel=0.02)


def test_a_run_without_a_step_has_no_figure() -> None:
    found = digest(make_run(count=0))
    assert (found.steps, found.step_seconds, found.ended, found.spark) == (0, None, None, ())
    assert found.verdict == "not_enough_steps"
