"""Single slow steps: whose they are, whether they come back, and what stays unexplained."""

from __future__ import annotations

import numpy as np
import pytest
from unit.analysis.noisy_steps import noisy_steps

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
from tb_slowdown_plugin.analysis.residual.stalls import find_aftermath

SIZE = 2000
ROW = np.arange(SIZE)


def test_steps_with_a_period_are_one_finding() -> None:
    work = np.where(ROW % 50 == 49, 0.05, 0.0)
    (finding,) = diagnose(noisy_steps(SIZE) + work).findings
    assert (finding.source, finding.pattern) == ("core", "periodic")
    assert finding.numbers["period_steps"] == 50
    assert finding.lost_seconds == pytest.approx(work.sum(), rel=0.1)


def test_steps_that_begin_epochs_are_told_as_such() -> None:
    epochs = np.cumsum([0, 180, 220, 190, 210, 205, 195, 200, 185, 215])
    work = np.zeros(SIZE)
    work[epochs] = 0.2
    (finding,) = diagnose(noisy_steps(SIZE) + work, epochs=epochs).findings
    assert finding.pattern == "epoch_boundary"


def test_scattered_stalls_stay_unexplained() -> None:
    rows = np.random.default_rng(9).choice(np.arange(100, SIZE), 12, replace=False)
    work = np.zeros(SIZE)
    work[rows] = 0.3
    diagnosis = diagnose(noisy_steps(SIZE) + work)
    assert diagnosis.ledger.unexplained_seconds == pytest.approx(work.sum(), rel=0.1)
    assert np.flatnonzero(diagnosis.unexplained_per_step).tolist() == sorted(rows)


def test_what_follows_a_retrace_is_its_aftermath() -> None:
    traced = np.where(ROW % 40 == 20, 0.02, 0.0)
    steps = prepare_steps(noisy_steps(SIZE) + traced, {"tracing:again": traced}, None)
    residual = np.random.default_rng(1).normal(0, 0.02, SIZE)
    residual[21::40] = 0.5
    found = find_aftermath(steps, residual, 5)
    assert found is not None
    account, rows = found
    assert account == "tracing:again"
    assert rows.tolist() == list(range(21, SIZE, 40))
    residual[21::40] = 0.0
    assert find_aftermath(steps, residual, 5) is None


def test_steps_shorter_than_any_clock_tells_overflow_nothing():
    seconds = np.where(np.arange(12) % 7 == 0, 0.5, 0.0)
    seconds[7:], seconds[4] = 0.5, np.finfo(float).tiny
    with np.errstate(over="raise"):
        assert np.isfinite(diagnose(seconds).ledger.unexplained_seconds)
