"""What `tbslow compare` says of repeats of one real program, and of one that does 20 % more.

    python -m benchmarks.comparison.real [DIRECTORY] [--repeats 6] [--products 62]

Trains `program.py` so many times as it is and so many times with more products of
matrices, in turns, a process each; then compares all choices of one, two and three
repeats a side. Runs that DIRECTORY has already are not trained again. The choices share
runs, so the counts are no independent trials: they say what a user would have seen.
`tests/repeats` has the runs of one such evening.
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path

from tb_slowdown_plugin.analysis.compare.comparison import compare
from tb_slowdown_plugin.analysis.compare.run_ledger import RunLedger, ledger_of
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader.logdir import read_runs

PRODUCTS = 50
"""In a step of the program as it is, which takes about 20 ms."""
PROGRAM = Path(__file__).with_name("program.py")


def record(directory: Path, repeats: int, products: int) -> None:
    """Trains what is missing, in turns, so that a busy minute meets both sides."""
    for index in range(repeats):
        for name, count in (("base", PRODUCTS), ("more", products)):
            logdir = directory / f"{name}{index}"
            if not logdir.exists():
                subprocess.run(
                    [sys.executable, str(PROGRAM), str(logdir), str(count)],
                    check=True,
                    stderr=subprocess.DEVNULL,
                )


def read(directory: Path, name: str) -> list[RunLedger]:
    """The ledgers of one side, in the order in which they were recorded."""
    places = sorted(directory.glob(f"{name}*"), key=lambda path: int(path.name[len(name) :]))
    runs = [run for place in places for run in read_runs(str(place), warn=print)]
    return [ledger_of(run, account_for(run)) for run in runs]


def same_program(runs: Sequence[RunLedger], repeats: int) -> Counter[str]:
    """Outcome -> how often, of all ways to take two sides of so many repeats from one side."""
    counts: Counter[str] = Counter()
    for base in combinations(range(len(runs)), repeats):
        rest = [index for index in range(len(runs)) if index not in base]
        for other in combinations(rest, repeats):
            if base < other:  # the other way round is the same comparison
                counts[_outcome(runs, base, runs, other)] += 1
    return counts


def other_program(
    runs: Sequence[RunLedger], more: Sequence[RunLedger], repeats: int
) -> Counter[str]:
    """Outcome -> how often, of all ways to take so many repeats from each side."""
    counts: Counter[str] = Counter()
    for base in combinations(range(len(runs)), repeats):
        for other in combinations(range(len(more)), repeats):
            counts[_outcome(runs, base, more, other)] += 1
    return counts


def _outcome(
    runs: Sequence[RunLedger],
    base: Sequence[int],
    others: Sequence[RunLedger],
    other: Sequence[int],
) -> str:
    return compare([runs[index] for index in base], [others[index] for index in other]).outcome


def _lines(base: Sequence[RunLedger], more: Sequence[RunLedger]) -> Iterator[str]:
    for name, runs in (("as it is", base), ("with more work", more)):
        seconds = [run.step.seconds for run in runs]
        mean, spread = statistics.mean(seconds), statistics.stdev(seconds)
        noise = math.sqrt(statistics.mean(run.step.error_seconds**2 for run in runs))
        yield (
            f"{name}: {len(runs)} runs of {runs[0].steps} steps, {1e3 * mean:.1f} ms a step; they "
            f"differ by {spread / mean:.1%}, of which {noise / mean:.1%} is noise within runs"
        )
    truth = statistics.mean(r.step.seconds for r in more) / statistics.mean(
        r.step.seconds for r in base
    )
    yield f"more work: {truth - 1:+.0%} a step, by all runs"
    for repeats in (1, 2, 3):
        same = same_program(base, repeats) + same_program(more, repeats)
        yield f"{repeats} a side, the same program: {_told(same)}"
        yield f"{repeats} a side, more work:        {_told(other_program(base, more, repeats))}"


def _told(counts: Counter[str]) -> str:
    return f"of {counts.total()}: " + ", ".join(f"{n} {name}" for name, n in counts.most_common())


def main() -> None:
    """Trains, compares, and prints what was said."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.comparison.real")
    parser.add_argument("directory", nargs="?", type=Path)
    parser.add_argument("--repeats", type=int, default=6)
    parser.add_argument("--products", type=int, default=PRODUCTS + 12)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or Path(temporary)
        record(directory, options.repeats, options.products)
        for line in _lines(read(directory, "base"), read(directory, "more")):
            print(line)


if __name__ == "__main__":
    main()
