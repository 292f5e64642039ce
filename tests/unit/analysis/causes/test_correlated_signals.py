"""Signals that move with a finding, and those that only happen to."""

import numpy as np
import pytest

from tb_slowdown_plugin.analysis.causes.correlated_signals import find_companions
from tb_slowdown_plugin.analysis.diagnose import diagnose
from tb_slowdown_plugin.analysis.stats.buckets import Samples

SIZE = 4000
ROW = np.arange(SIZE)
RANDOM = np.random.default_rng(6)
NOISE = np.exp(RANDOM.normal(0, 0.02, SIZE))
SAMPLED = np.arange(0, SIZE, 8)


def companions(step, **signals):
    diagnosis = diagnose(step)
    (finding,) = diagnosis.findings
    samples = {name: Samples(SAMPLED, values[SAMPLED]) for name, values in signals.items()}
    return {each.signal: each for each in find_companions(finding, diagnosis, samples)}


def test_a_signal_that_jumps_where_the_step_does():
    late = ROW >= 2500
    found = companions(
        0.01 * NOISE * np.where(late, 1.5, 1.0),
        with_it=np.where(late, 80.0, 60.0) + RANDOM.normal(0, 0.5, SIZE),
        elsewhere=np.where(ROW >= 1000, 80.0, 60.0) + RANDOM.normal(0, 0.5, SIZE),
        alike=60.0 + RANDOM.normal(0, 0.5, SIZE),
    )
    assert set(found) == {"with_it"}
    each = found["with_it"]
    assert each.how == "jumps_together"
    assert (each.before, each.after) == (pytest.approx(60.0, abs=0.5), pytest.approx(80.0, abs=0.5))


def test_a_signal_that_grows_all_along_with_a_drift():
    found = companions(
        0.01 * NOISE * np.linspace(1.0, 2.0, SIZE),
        grows=np.linspace(1e9, 3e9, SIZE),
        shrinks=np.linspace(3e9, 1e9, SIZE),
    )
    assert set(found) == {"grows"}
    assert found["grows"].how == "grows_together"
