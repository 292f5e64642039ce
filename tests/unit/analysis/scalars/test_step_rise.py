"""Since when steps take longer, and how many times as long."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.scalars.step_rise import StepRise, find_rise

ROWS = 1000


def rise_of(core: np.ndarray) -> StepRise | None:
    diagnosis = diagnose(core)
    late = tuple(each for each in diagnosis.findings if each.pattern != "warm_up")
    return find_rise(core, diagnosis, late)


def level(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(1.0, 0.03, ROWS)


@pytest.mark.parametrize("power", [1.0, 1.5, 3.0])
@pytest.mark.parametrize("onset", [0.0, 0.3, 0.7])
def test_growth_begins_within_a_twentieth_of_the_run(onset: float, power: float) -> None:
    x = np.maximum(np.linspace(0, 1, ROWS) - onset, 0) / (1 - onset)
    rise = rise_of(level() * (1 + 4 * x**power))
    assert rise is not None
    visible = onset + (1 - onset) * (0.05 / 4) ** (1 / power)
    assert rise.rows[0] / ROWS == pytest.approx(visible, abs=0.05)
    assert rise.rows[1] == ROWS - 1
    assert rise.ratio > 2


def test_of_several_jumps_that_last_the_first_counts() -> None:
    core = level()
    core[300:] *= 1.3
    core[600:] *= 1.5
    rise = rise_of(core)
    assert rise is not None
    assert rise.rows == (300, ROWS - 1)
    assert rise.before_seconds == pytest.approx(1.0, rel=0.01)


def test_a_flat_run_has_none() -> None:
    assert rise_of(level()) is None


def test_a_run_that_gets_faster_has_none() -> None:
    core = level()
    core[:500] *= 2.0
    assert rise_of(core) is None
