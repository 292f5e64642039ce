"""How often `tbslow compare` is wrong: false alarms of A/A pairs, and what it finds.

Each side is so many runs of one program: 1,000 steps with the noise of
`benchmarks.accuracy.quiet` within, and a factor of their own with the given spread
between runs.

    python -m benchmarks.comparison [--pairs 1000]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.quiet import FAMILIES
from tb_slowdown_plugin.analysis.comparison import Comparison, compare
from tb_slowdown_plugin.analysis.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.analysis.types import Account, Report
from tb_slowdown_plugin.records.types import (
    Environment,
    Run,
    StepTable,
    no_signals,
)

_STEPS: Final = 1_000
_STEP_SECONDS: Final = 0.1


Noise = Callable[[np.random.Generator], NDArray[np.float64]]
"""The logarithm of each step's time of one run of a program, but for its level."""
PROGRAMS: Final = (
    "white",
    "autocorrelated",
    "bursts",
    "heavy_tail",
    "everything",
    "modes",
    "skewed",
)


def draw_program(random: np.random.Generator, family: str) -> Noise:
    """A program: what its runs have in common is drawn here, the rest in each run."""
    if family == "modes":  # two sorts of batches
        share, apart = random.uniform(0.1, 0.4), random.uniform(0.1, 0.5)
        return lambda run: np.where(run.random(_STEPS) < share, apart, 0.0)
    if family == "skewed":  # a floor and a long right side, as disks and networks have
        shape, scale = random.uniform(0.5, 3), random.uniform(0.02, 0.15)
        return lambda run: np.log1p(run.gamma(shape, scale, _STEPS))
    return lambda run: sum((each(run, _STEPS) for each in FAMILIES[family]), np.zeros(_STEPS))


def draw_ledger(
    random: np.random.Generator, program: Noise, spread: float, slower: float
) -> RunLedger:
    """One run: steps of 100 ms with the program's noise, as fast as runs are by chance."""
    level = _STEP_SECONDS * (1 + slower) * np.exp(random.normal(0, spread))
    return ledger(level * np.exp(program(random)))


def ledger(seconds: NDArray[np.float64]) -> RunLedger:
    """The ledger of a run of which nothing but the step times is known."""
    count = len(seconds)
    unknown = np.full(count, np.nan)
    whole = np.zeros(count, np.int64)
    steps = StepTable(
        np.arange(count),
        seconds,
        seconds,
        unknown,
        unknown,
        np.cumsum(seconds),
        unknown,
        whole,
        ("train",),
    )
    run = Run("run", steps, no_signals(), (), Environment(), ())
    report = Report("run", "healthy", "", count, 0.0, None, "", 0.0, 0.0, 0.0, (), (), (), (), {})
    return ledger_of(run, Account(report, seconds, {}, ()))


def draw_comparison(
    random: np.random.Generator, family: str, repeats: int, spread: float, slower: float
) -> Comparison:
    """A comparison of two sides of which the second is slower by a share."""
    program = draw_program(random, family)
    base = [draw_ledger(random, program, spread, 0.0) for _ in range(repeats)]
    other = [draw_ledger(random, program, spread, slower) for _ in range(repeats)]
    return compare(base, other)


def count_outcomes(
    pairs: int, repeats: int, spread: float, slower: float, seed: int = 7
) -> dict[str, int]:
    """Outcome -> how often it came."""
    random = np.random.default_rng(seed)
    counts: dict[str, int] = {}
    for index in range(pairs):
        family = PROGRAMS[index % len(PROGRAMS)]
        outcome = draw_comparison(random, family, repeats, spread, slower).outcome
        counts[outcome] = counts.get(outcome, 0) + 1
    return counts


def main() -> None:
    """Prints a table: a row each for a spread, repeats a side, and a true difference."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=1_000)
    pairs = parser.parse_args().pairs
    print("spread  repeats  truth  alarms of", pairs, " can't tell")
    for spread in (0.01, 0.02, 0.05):
        for repeats in (1, 2, 3, 5):
            for slower in (0.0, 0.05, 0.1, 0.2):
                counts = count_outcomes(pairs, repeats, spread, slower)
                alarms = counts.get("slower", 0) + (counts.get("faster", 0) if not slower else 0)
                unsure = counts.get("not_enough_repeats", 0)
                print(f"{spread:6.0%} {repeats:8} {slower:6.0%} {alarms:17} {unsure:11}")


if __name__ == "__main__":
    main()
