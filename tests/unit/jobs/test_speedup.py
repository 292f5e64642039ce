"""Levels and intervals on step times that are made, with effects that are known."""

from __future__ import annotations

import numpy as np
import pytest

from tb_slowdown_plugin.jobs.speedup import (
    Level,
    Speedup,
    estimate_speedup,
    measure_level,
    settled_steps,
)

STEPS = 150


def measure_runs(
    random: np.random.Generator, seconds: float, runs: int, between: float, within: float
) -> list[Level]:
    """Runs of one program: each has its own level, and each step its own noise."""
    levels = []
    for _ in range(runs):
        level = seconds * np.exp(random.normal(0, between))
        steps = level * np.exp(random.normal(0, within, STEPS))
        levels.append(measure_level(steps, np.ones(STEPS), is_rare=False))
    return levels


def try_once(random: np.random.Generator, factor: float, between: float, within: float) -> Speedup:
    before = measure_runs(random, 0.1, 3, between, within)
    after = measure_runs(random, 0.1 / factor, 3, between, within)
    found = estimate_speedup(before, after)
    assert found is not None
    return found


def excludes_one(found: Speedup) -> bool:
    return found.low > 1 or found.high < 1


@pytest.mark.parametrize(("between", "within"), [(0.0, 0.02), (0.01, 0.05), (0.1, 0.2)])
def test_a_program_against_itself_differs_in_2_of_100_at_most(
    between: float, within: float
) -> None:
    random = np.random.default_rng(7)
    found = [try_once(random, 1.0, between, within) for _ in range(100)]
    assert sum(map(excludes_one, found)) <= 2


@pytest.mark.parametrize("factor", [0.5, 1.2, 2.0, 10.0])
def test_the_interval_has_the_truth_and_tells_the_effect(factor: float) -> None:
    random = np.random.default_rng(11)
    found = [try_once(random, factor, 0.01, 0.05) for _ in range(100)]
    assert sum(each.low <= factor <= each.high for each in found) >= 97
    assert all(each.ratio == pytest.approx(factor, rel=0.1) for each in found)
    assert sum(map(excludes_one, found)) >= 95


def test_a_busy_machine_gives_wider_intervals() -> None:
    random = np.random.default_rng(3)
    quiet, busy = (
        np.median([np.log(each.high / each.low) for each in found])
        for found in (
            [try_once(random, 1.0, 0.005, 0.05) for _ in range(30)],
            [try_once(random, 1.0, 0.1, 0.3) for _ in range(30)],
        )
    )
    assert busy > 5 * quiet


def test_one_repeat_has_no_interval() -> None:
    assert estimate_speedup([Level(1.0, 0.0)], [Level(1.0, 0.0)]) is None
    assert estimate_speedup([Level(1.0, 0.0)] * 2, [Level(1.0, 0.0)]) is None


def test_levels_that_agree_by_chance_are_not_taken_for_proof() -> None:
    found = estimate_speedup([Level(1.0, 0.0)] * 2, [Level(1.005, 0.0)] * 2)
    assert found is not None
    assert not excludes_one(found)


def test_one_disturbance_does_not_move_the_level_of_a_run() -> None:
    seconds = np.full(100, 0.1)
    seconds[40] = 30.0
    assert measure_level(seconds, np.ones(100), is_rare=False).seconds == pytest.approx(0.1)
    assert measure_level(seconds, np.ones(100), is_rare=True).seconds == pytest.approx(0.399)


def test_rare_slow_steps_make_the_interval_wider() -> None:
    seconds = np.full(100, 0.1)
    even = measure_level(seconds, np.ones(100), is_rare=True)
    seconds[40] = 1.0
    assert measure_level(seconds, np.ones(100), is_rare=True).variance > even.variance == 0.0


def test_a_step_of_several_batches_counts_as_several() -> None:
    level = measure_level(np.full(10, 1.0), np.full(10, 10.0), is_rare=False)
    assert level.seconds == pytest.approx(0.1)


def test_the_warm_up_is_left_out() -> None:
    ended = np.cumsum([10.0] * 5 + [1.0] * 95)
    seconds, batches = settled_steps(ended, np.ones(100))
    assert (len(seconds), len(batches)) == (80, 80)
    assert seconds.max() == 1.0
    seconds, _ = settled_steps(ended[:12], np.ones(12))
    assert (len(seconds), seconds.max()) == (7, 1.0)
    assert len(settled_steps(ended[:0], np.ones(0))[0]) == 0
