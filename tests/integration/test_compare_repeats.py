"""Recorded repeats of one real program, and of one that does a fifth more, are told apart.

`tests/repeats` was recorded by `python -m benchmarks.comparison.real` on a machine that
other programs kept busy (load 10 to 22 on 4 cores), after the rules had been fixed.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))  # `benchmarks` is not installed

from benchmarks.comparison.real import other_program, read, same_program
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger

REPEATS = Path(__file__).parents[1] / "repeats"


@pytest.fixture(scope="module")
def base() -> list[RunLedger]:
    return read(REPEATS, "base")


@pytest.fixture(scope="module")
def more() -> list[RunLedger]:
    return read(REPEATS, "more")


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_the_same_program_raises_no_alarm(
    base: list[RunLedger], more: list[RunLedger], repeats: int
) -> None:
    for runs in (base, more):
        counts = same_program(runs, repeats)
        assert counts["slower"] + counts["faster"] <= counts.total() / 200, counts


def test_a_fifth_more_work_is_found_with_three_repeats_a_side(
    base: list[RunLedger], more: list[RunLedger]
) -> None:
    counts = other_program(base, more, 3)
    assert counts.total() == 3_136
    assert counts["slower"] >= 0.95 * counts.total(), counts


def test_the_mean_alone_could_not_have_told(base: list[RunLedger]) -> None:
    """What makes these runs hard: the means differ by more than the programs do."""

    def spread(values: list[float]) -> float:
        return statistics.stdev(values) / statistics.mean(values)

    assert spread([run.step.seconds for run in base]) > 0.2
    assert spread([run.quiet.seconds for run in base]) < 0.05
