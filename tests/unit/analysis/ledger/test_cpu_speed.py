"""Computing that takes longer because the CPU is slower is not the program's."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.analysis import diagnose
from tb_slowdown_plugin.analysis.ledger.cpu_speed import find_slow_cpu
from tb_slowdown_plugin.analysis.prepare.steps import prepare_steps
from tb_slowdown_plugin.analysis.stats.buckets import Samples

SIZE, EVERY = 1200, 20
SLOW = (np.arange(SIZE) // 200) % 2 == 1
"""Six stretches by turns, as where a neighbour comes and goes."""
ROWS = np.arange(EVERY - 1, SIZE, EVERY)


def noise(seed=5):
    return np.exp(np.random.default_rng(seed).normal(0, 0.03, SIZE))


def work(slower=1.7):
    return Samples(ROWS, np.where(SLOW, 40e-6 * slower, 40e-6)[ROWS])


def test_it_is_told_by_the_computation_that_takes_longer() -> None:
    seconds = 0.010 * np.where(SLOW, 1.5, 1.0)
    found = find_slow_cpu(
        prepare_steps(seconds, {}, None, seconds), {"fixed_work_seconds": work(2)}
    )
    assert found is not None
    inside = found[260:380]
    np.testing.assert_allclose(inside, 0.015 / 3)  # steps took half as long again, not twice
    assert found[:200].sum() == 0


def test_steps_that_go_up_and_down_with_it_are_not_the_programs() -> None:
    seconds = 0.010 * noise() * np.where(SLOW, 1.5, 1.0)
    alone = diagnose(seconds, cpu_seconds=seconds)
    beside = diagnose(seconds, cpu_seconds=seconds, signals={"fixed_work_seconds": work()})
    assert alone.verdict == "slowdown"
    assert beside.verdict == "healthy"
    assert [each.source for each in beside.findings] == ["contention:slow_cpu"]
    assert beside.findings[0].lost_seconds == pytest.approx(0.005 * SLOW.sum(), rel=0.15)


def test_a_program_that_gets_slower_on_a_cpu_that_wanders_is_blamed() -> None:
    later = np.where(np.arange(SIZE) >= 500, 0.008, 0.0)
    seconds = 0.010 * noise() + later
    found = diagnose(seconds, cpu_seconds=seconds, signals={"fixed_work_seconds": work(1.2)})
    largest = found.findings[0]
    assert (found.verdict, largest.source, largest.pattern) == ("slowdown", "core", "level_shift")
    assert largest.lost_seconds == pytest.approx(later.sum(), rel=0.1)


def test_threads_of_the_program_that_slow_its_own_core_are_its_own() -> None:
    seconds = 0.010 * noise() * np.where(SLOW, 1.5, 1.0)
    cpu = seconds * np.where(SLOW, 2.0, 1.0)
    signals = {"fixed_work_seconds": work(), "thread_cpu_seconds": seconds}
    assert find_slow_cpu(prepare_steps(seconds, {}, None, cpu), signals) is None
    assert diagnose(seconds, cpu_seconds=cpu, signals=signals).verdict == "slowdown"


@pytest.mark.parametrize(
    ("signals", "cpu"),
    [
        ({}, np.full(SIZE, 0.01)),
        ({"fixed_work_seconds": Samples(ROWS[:5], np.full(5, 40e-6))}, np.full(SIZE, 0.01)),
        ({"fixed_work_seconds": work()}, None),
        ({"fixed_work_seconds": work()}, np.full(SIZE, np.nan)),
    ],
    ids=["no computation", "few samples", "no CPU time", "CPU time not measured"],
)
def test_without_proof_nothing_is_told(signals, cpu) -> None:
    assert find_slow_cpu(prepare_steps(np.full(SIZE, 0.01), {}, None, cpu), signals) is None


def test_steps_of_other_kinds_are_compared_with_their_own() -> None:
    """One step in fifty takes a hundred times as long, wherever the CPU is slower or not."""
    long = np.arange(SIZE) % 50 == 7
    usual = np.where(long, 1.0, 0.010)
    seconds = usual * noise() * np.where(SLOW, 1.4, 1.0)
    steps = prepare_steps(seconds, {}, None, seconds)
    found = find_slow_cpu(steps, {"fixed_work_seconds": work(1.4)}, usual)
    assert found is not None
    assert found.sum() == pytest.approx((0.4 * usual * SLOW).sum(), rel=0.15)
    assert found[long & SLOW].sum() > 0.5 * found.sum()


def test_what_goes_together_by_chance_is_not_charged() -> None:
    """Of twelve samples two pairs agree, which means nothing."""
    rows = np.arange(99, SIZE, 100)
    values = 40e-6 * (1 + 0.3 * np.random.default_rng(8).random(len(rows)))
    seconds = 0.010 * noise()
    signals = {"fixed_work_seconds": Samples(rows, values)}
    assert find_slow_cpu(prepare_steps(seconds, {}, None, seconds), signals) is None
