"""What the core shows beside its level: aftermaths, stalls, unconfirmed ends, degenerate runs."""

import numpy as np
import pytest
from unit.analysis.noisy_steps import noisy_steps

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.stats.change_points import Piece, Segmentation
from tb_slowdown_plugin.analysis.stats.segments import join
from tb_slowdown_plugin.catalog.accounts import (
    CONTENTION_ACCOUNTS,
)
from tb_slowdown_plugin.catalog.collectors import SIGNALS


def test_the_step_after_a_retrace_is_slow_because_of_it():
    tracing = np.where(np.arange(3000) % 50 == 10, 0.05, 0.0)
    step = noisy_steps(3000) + tracing
    step[11::50] += 0.02
    diagnosis = diagnose(step, {"tracing:again": tracing})
    assert {each.source for each in diagnosis.findings} == {"tracing:again"}
    assert diagnosis.ledger.lost["tracing:again"] == pytest.approx(60 * 0.07, rel=0.02)


def test_one_long_stretch_is_a_one_off():
    step = noisy_steps(3000)
    step[1500:1600] *= 4
    (finding,) = diagnose(step).findings
    assert finding.pattern == "one_off"
    assert finding.lost_seconds == pytest.approx(3.0, rel=0.1)
    assert abs(finding.rows[0] - 1500) <= 10


def test_a_slow_end_is_unexplained_until_it_lasts():
    step = noisy_steps(3000)
    step[2900:] *= 3
    diagnosis = diagnose(step)
    assert diagnosis.findings == ()
    assert diagnosis.ledger.unexplained_seconds == pytest.approx(2.0, rel=0.1)


def test_scattered_stalls_are_unexplained_if_they_are_much():
    random = np.random.default_rng(3)
    hit = random.random(3000) < 0.01
    few, many = diagnose(noisy_steps(3000) + hit * 0.03), diagnose(noisy_steps(3000) + hit * 0.3)
    assert few.ledger.unexplained_seconds == 0
    assert many.ledger.unexplained_seconds == pytest.approx(0.3 * hit.sum(), rel=0.05)
    assert few.findings == many.findings == ()
    assert (few.verdict, many.verdict) == ("healthy", "slowdown")


def test_a_run_that_gets_a_little_faster_is_healthy():
    step = noisy_steps(3000)
    step[:1500] *= 1.15
    assert diagnose(step).verdict == "healthy"


def test_the_baseline_is_told_by_the_least_that_it_needs_and_where_it_was():
    step = noisy_steps(3000)
    step[2500:] *= 2
    baseline = diagnose(step).baseline
    assert baseline.provenance == "the fastest level sustained for at least 5% of the run"
    assert baseline.rows == (0, 2499)


def test_a_slow_first_half_is_told_from_a_quarter_on():
    step = noisy_steps(3000)
    step[:1500] *= 1.6
    (finding,) = diagnose(step).findings
    assert (finding.pattern, finding.rows) == ("level_shift", (0, 1499))


def test_a_dip_is_no_baseline():
    step = noisy_steps(3000)
    step[1000:1300] *= 0.8
    diagnosis = diagnose(step)
    assert diagnosis.verdict == "healthy"
    assert diagnosis.baseline.seconds == pytest.approx(0.01, rel=0.02)


@pytest.mark.parametrize("there", [slice(1000, 2000), slice(400, 3000)], ids=["a while", "most"])
def test_what_an_inexact_split_leaves_over_stays_with_contention(there):
    delay = np.zeros(3000)
    delay[there] = 0.02
    counted = np.full(3000, np.nan)
    counted[::20] = np.cumsum(delay * 0.9)[::20]
    diagnosis = diagnose(noisy_steps(3000) + delay, signals={"thread_run_delay_seconds": counted})
    assert set(diagnosis.ledger.lost) == {"contention:run_delay"}
    assert diagnosis.ledger.lost["contention:run_delay"] == pytest.approx(delay.sum(), rel=0.05)


def test_the_contention_signals_are_registered():
    assert set(CONTENTION_ACCOUNTS) <= set(SIGNALS)
    assert all(SIGNALS[name].cumulative for name in CONTENTION_ACCOUNTS)


def test_pieces_of_one_mean_are_joined():
    values = np.concatenate([np.linspace(0, 1, 50), np.linspace(1, 0, 50)])
    pieces = [Piece(0, 50, 0.5, 0.02), Piece(50, 100, 0.5, -0.02)]
    (part,) = join(Segmentation(tuple(pieces), (), 1e-6, values), pieces)
    assert (part.first, part.end, part.grows) == (0, 100, True)


@pytest.mark.parametrize(
    "step",
    [
        np.zeros(500),
        np.full(500, np.nan),
        np.full(500, -1.0),
        np.append(np.full(499, 1e-9), 3600.0),
        np.append(3600.0, np.full(499, 1e-9)),
        np.where(np.arange(500) % 2 == 0, 0.0, 1.0),
        np.linspace(1e-9, 1e9, 500),
        np.linspace(1e9, 0, 500),
        np.full(500, 5e-324),
    ],
)
def test_odd_clocks_get_a_verdict(step):
    diagnosis = diagnose(step, {"gc": step, "input_wait": step / 2}, cpu_seconds=step)
    assert diagnosis.verdict in ("healthy", "slow_start", "slowdown", "not_enough_steps")
    total = diagnosis.healthy_per_step + diagnosis.unexplained_per_step
    for finding in diagnosis.findings:
        total = total + finding.lost_per_step
    np.testing.assert_allclose(total, np.where(step >= 0, step, 0), rtol=1e-9, atol=1e-300)


def test_a_kind_that_came_after_a_jump_has_not_jumped() -> None:
    noise = np.random.default_rng(1).normal(1.0, 0.01, 400)
    small = np.where(np.arange(300) < 100, 0.5, 0.6)
    step = np.concatenate([small, np.full(100, 150.0)]) * 1e-3 * noise
    kinds = np.repeat(["small", "large"], [300, 100])
    assert diagnose(step, kinds=kinds).findings == (), "10 ms of 15 s"
    step[300:] = 0.6e-3 * noise[300:]
    (found,) = diagnose(step, kinds=kinds).findings
    assert (found.pattern, found.rows) == ("level_shift", (100, 299))
    assert found.lost_seconds == pytest.approx(200 * 0.1e-3, rel=0.1)


def test_steps_shorter_than_any_clock_tells_overflow_nothing():
    """As a run of a property test had them, in which a warning is an error."""
    seconds = np.array([0, 2.2e-308, 0, 0, 0, 0, 2.0, 0, 0, 0, 0, *[0.5] * 7])
    diagnosis = diagnose(seconds)
    assert diagnosis.ledger.wall_seconds == pytest.approx(5.5)
