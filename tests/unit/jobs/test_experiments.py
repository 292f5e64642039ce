"""Which experiments are chosen, in which turns they run, and when they end."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from tb_slowdown_plugin.catalog.causes import CAUSES
from tb_slowdown_plugin.catalog.experiments import AS_IT_IS, EXPERIMENTS
from tb_slowdown_plugin.jobs.experiments import (
    Outcome,
    Times,
    choose_experiments,
    measure_pair,
    try_all,
)


def times(step_seconds: float, steps: int = 100, noise: float = 0.01, batches: int = 1) -> Times:
    random = np.random.default_rng(5)
    seconds = step_seconds * np.exp(random.normal(0, noise, steps))
    return Times(np.cumsum(seconds), np.full(steps, float(batches)))


class Program:
    """Runs in no time, each by its name."""

    def __init__(self, runs: Mapping[str, Times]) -> None:
        self._runs = runs
        self.turns: list[str] = []

    def run(self, name: str) -> Times:
        self.turns.append(name)
        return self._runs[name]


def try_one(program: Program, name: str = "prefetch", repeats: int = 3) -> Outcome:
    (outcome,) = try_all([EXPERIMENTS[name]], program.run, repeats)
    return outcome


def test_causes_call_for_experiments() -> None:
    assert [each.name for each in choose_experiments(["input_pipeline"])] == [
        "input_free",
        "prefetch",
        "autotune_off",
    ]
    assert choose_experiments(["thermal"]) == []
    tested = {cause for each in EXPERIMENTS.values() for cause in each.causes}
    assert tested <= set(CAUSES)


def test_turns_change_their_order_and_end_when_the_interval_is_narrow() -> None:
    program = Program({AS_IT_IS: times(0.1), "prefetch": times(0.05)})
    outcome = try_one(program)
    assert outcome.speedup is not None
    assert outcome.speedup.ratio == pytest.approx(2.0)
    assert program.turns == ["prefetch", AS_IT_IS, AS_IT_IS, "prefetch"]


def test_a_wide_interval_takes_all_repeats() -> None:
    class Noisy(Program):
        def run(self, name: str) -> Times:
            self.turns.append(name)
            return times(0.1 * (1 + 0.2 * len(self.turns)))

    program = Noisy({})
    outcome = try_one(program, repeats=4)
    assert outcome.speedup is not None
    assert outcome.speedup.low <= 1 <= outcome.speedup.high
    assert len(program.turns) == 8


def test_what_cannot_be_tried_ends_after_one_run() -> None:
    program = Program({"xla": Times(np.zeros(0), np.zeros(0), "no XLA"), AS_IT_IS: times(0.1)})
    outcome = try_one(program, "xla")
    assert (outcome.speedup, outcome.reason) == (None, "no XLA")
    assert program.turns == ["xla"]


def test_too_few_steps_are_said() -> None:
    few = times(0.1, steps=14)
    outcome = try_one(Program({AS_IT_IS: few, "prefetch": few}))
    assert outcome.reason == "the program runs fewer than 15 steps"


def test_the_same_batches_are_compared() -> None:
    """A run that ended earlier says nothing of the batches after its end."""
    slow_later = Times(np.cumsum([0.1] * 60 + [1.0] * 60), np.ones(120))
    pair = measure_pair(slow_later, times(0.1, steps=60, noise=0.0), is_rare=True)
    assert pair is not None
    assert pair[0].seconds == pytest.approx(pair[1].seconds)


def test_steps_of_several_batches_are_compared_by_batch() -> None:
    pair = measure_pair(times(0.1), times(0.5, steps=10, batches=10), is_rare=False)
    assert pair is not None
    assert pair[0].seconds / pair[1].seconds == pytest.approx(2.0, rel=0.02)
