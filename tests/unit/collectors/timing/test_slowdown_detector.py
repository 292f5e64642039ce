"""Whether steps take longer than they once did, while the run goes on."""

from __future__ import annotations

from dataclasses import replace

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.collectors.timing.slowdown_detector import (
    BLOCK_STEPS,
    LivePace,
    StepPace,
)

S = 10**9


def noted(pace: StepPace, step_ns: int, *, cpu_ns: int = 0, begin: tuple[int, int, int]) -> tuple:
    steps, wall, cpu = begin
    for _ in range(10):
        steps, wall, cpu = steps + 10, wall + 10 * step_ns, cpu + 10 * cpu_ns
        pace.note(steps, wall, cpu)
    return steps, wall, cpu


@pytest.mark.parametrize(("factor", "slower"), [(1.0, False), (1.1, False), (1.3, True)])
def test_a_pace_is_slower_than_the_best_from_15_percent_on(factor, slower) -> None:
    pace = StepPace()
    at = noted(pace, S // 100, begin=(0, 0, 0))
    assert not pace.is_slower
    noted(pace, round(factor * S / 100), begin=at)
    assert pace.is_slower is slower


def test_cpu_time_that_grows_counts_too() -> None:
    pace = StepPace()
    at = noted(pace, S // 100, cpu_ns=S // 1000, begin=(0, 0, 0))
    noted(pace, S // 100, cpu_ns=S // 500, begin=at)
    assert pace.is_slower


def test_pace_needs_enough_steps_and_recovers() -> None:
    pace = StepPace()
    for n in range(30):
        pace.note(n, n * 1_000, None)  # 29 steps: one stretch
    assert not pace.is_slower
    for n in range(30):
        pace.note(30 + n, 30_000 + n * 2_000, None)
    assert pace.is_slower
    for n in range(60):
        pace.note(60 + n, 90_000 + n * 1_000, None)
    assert not pace.is_slower


def steps_of(seconds: float, blocks: int, seed: int = 0):
    steps = event_files.make_steps(blocks * BLOCK_STEPS)
    noise = np.exp(np.random.default_rng(seed).normal(0, 0.02, len(steps)))
    return replace(steps, period_seconds=seconds * noise)


def test_a_run_settles_gets_slower_and_is_accepted() -> None:
    pace = LivePace()
    assert pace.add(steps_of(0.01, 2)) == "unsettled"
    assert pace.add(steps_of(0.01, 3)) == "steady"
    assert pace.add(steps_of(0.014, 1)) == "steady"
    assert pace.add(steps_of(0.014, 2)) == "slower"
    pace.accept()
    assert pace.add(steps_of(0.014, 3)) == "steady"
    assert pace.add(steps_of(0.020, 3)) == "slower"


def test_single_slow_steps_are_no_level() -> None:
    pace = LivePace()
    steps = steps_of(0.01, 12)
    period = steps.period_seconds.copy()
    period[::20] = 1.0
    assert pace.add(replace(steps, period_seconds=period)) == "steady"
