"""Runs a program with and without each intervention, in turns, and compares the step times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tb_slowdown_plugin.catalog.experiments import AS_IT_IS, DEBUGGING_OFF, EXPERIMENTS, Experiment
from tb_slowdown_plugin.jobs.speedup import (
    MIN_STEPS,
    Float,
    Level,
    Speedup,
    estimate_speedup,
    measure_level,
    settled_steps,
)


@dataclass(frozen=True, slots=True)
class Times:
    """What one run of the program has shown."""

    ended_seconds: Float
    """(S,) when each step ended."""
    batches: Float
    """(S,) in each step."""
    reason: str = ""
    """Why nothing can be said of this run; "" where something can."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one experiment."""

    experiment: Experiment
    speedup: Speedup | None
    reason: str = ""
    """Why there is no speed-up."""


RunOnce = Callable[[str], Times]
"""Runs the program in a fresh process, with the intervention of that name."""


def choose_experiments(causes: Sequence[str], *, debugs: bool = False) -> list[Experiment]:
    """The experiments that causes call for.

    Args:
      causes: Ids of them.
      debugs: Whether settings for debugging are on, which make each step slower.

    Example:
      >>> [each.name for each in choose_experiments(["garbage_collection", "workload"])]
      ['gc_frozen']
      >>> [each.name for each in choose_experiments([], debugs=True)]
      ['debugging_off']
    """
    return [
        each
        for each in EXPERIMENTS.values()
        if set(each.causes) & set(causes) or (debugs and each.name == DEBUGGING_OFF)
    ]


def try_all(experiments: Sequence[Experiment], run: RunOnce, repeats: int) -> Iterator[Outcome]:
    """Tries one experiment after the other.

    Args:
      experiments: What to try.
      run: Runs the program once.
      repeats: Runs on each side at most; fewer where the interval is narrow before.

    Yields:
      An outcome as soon as it is known.
    """
    for experiment in experiments:
        yield _try_one(experiment, run, repeats)


def _try_one(experiment: Experiment, run: RunOnce, repeats: int) -> Outcome:
    before: list[Level] = []
    after: list[Level] = []
    found: Speedup | None = None
    # The intervention is first: where it can't be tried, that is known after one run. Then turns
    # change their order, so that a machine that gets slower favors neither side.
    turn = [experiment.name, AS_IT_IS]
    for _ in range(repeats):
        times: dict[str, Times] = {}
        for name in turn:
            times[name] = run(name)
            if times[name].reason:
                return Outcome(experiment, None, times[name].reason)
        turn.reverse()
        levels = measure_pair(times[AS_IT_IS], times[experiment.name], is_rare=experiment.is_rare)
        if levels is None:
            needed = MIN_STEPS + 5
            return Outcome(experiment, None, f"the program runs fewer than {needed} steps")
        before.append(levels[0])
        after.append(levels[1])
        found = estimate_speedup(before, after)
        if found is not None and found.is_narrow:
            break
    return Outcome(experiment, found, "" if found else "an interval needs two repeats")


def measure_pair(before: Times, after: Times, *, is_rare: bool) -> tuple[Level, Level] | None:
    """The levels of two runs over the same batches; None where these are too few."""
    common = min(float(before.batches.sum()), float(after.batches.sum()))
    levels = []
    for times in (before, after):
        steps = int(np.searchsorted(np.cumsum(times.batches), common, side="right"))
        seconds, batches = settled_steps(times.ended_seconds[:steps], times.batches[:steps])
        if batches.sum() < MIN_STEPS or len(seconds) < 2:
            return None
        levels.append(measure_level(seconds, batches, is_rare=is_rare))
    return levels[0], levels[1]
