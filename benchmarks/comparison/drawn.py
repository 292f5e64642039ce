"""Drawn comparisons: each side is so many runs of one program.

A run has 1,000 steps with the noise of `benchmarks.accuracy.quiet` within, and in each
comparison a factor of its own with the given spread between runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.accuracy.quiet import FAMILIES
from tb_slowdown_plugin.analysis.compare.comparison import Comparison, compare
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, Term, ledger_of
from tb_slowdown_plugin.analysis.report_types.report import Report, RunAccount
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Environment, StepTable, no_signals

_STEPS: Final = 1_000
_STEP_SECONDS: Final = 0.1
_EACH: Final = 5
"""Programs of a family."""
_RUNS: Final = 14
"""Of a program; a comparison takes some of them and makes each as fast as chance has it."""


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


def draw_programs(random: np.random.Generator) -> list[list[RunLedger]]:
    """Some programs of each family, and of each some runs, all equally fast but for their noise."""
    return [
        [ledger(_STEP_SECONDS * np.exp(program(random))) for _ in range(_RUNS)]
        for program in [draw_program(random, family) for family in PROGRAMS for _ in range(_EACH)]
    ]


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
    return ledger_of(run, RunAccount(report, seconds, {}, ()))


def draw_comparison(
    random: np.random.Generator,
    runs: Sequence[RunLedger],
    repeats: int,
    spread: float,
    slower: float,
) -> Comparison:
    """A comparison of two sides of one program, of which the second is slower by a share."""
    drawn = random.permutation(len(runs))[: 2 * repeats]
    levels = np.exp(random.normal(0, spread, 2 * repeats))
    base = [_times(runs[i], level) for i, level in zip(drawn, levels, strict=True)][:repeats]
    other = [
        _times(runs[i], (1 + slower) * level)
        for i, level in zip(drawn[repeats:], levels[repeats:], strict=True)
    ]
    return compare(base, other)


def _times(run: RunLedger, factor: float) -> RunLedger:
    """A run in which everything takes so many times as long."""

    def times(term: Term) -> Term:
        return Term(term.seconds * factor, term.error_seconds * factor)

    terms = {name: times(term) for name, term in run.terms.items()}
    return replace(run, step=times(run.step), quiet=times(run.quiet), terms=terms)


def count_outcomes(
    pairs: int, repeats: int, spread: float, slower: float, seed: int
) -> Counter[str]:
    """Outcome -> how often it came, of so many comparisons."""
    random = np.random.default_rng(seed)
    programs = draw_programs(random)
    return Counter(
        draw_comparison(random, programs[i % len(programs)], repeats, spread, slower).outcome
        for i in range(pairs)
    )
