"""Compares the report of recorded real programs with the truth that their injector wrote.

    python -m benchmarks.accuracy.real [DIRECTORY]

DIRECTORY holds one folder a run, with its records and `truth.json` (`tests/recordings`;
`scripts/record_programs` makes them).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.accuracy.score import interval, quantile
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs
from tb_slowdown_plugin.records.run import Run

HEALTHY = "healthy"
BUSY_CORES = 1.0
"""Cores taken by other processes from which `cpu_contention` is no false alarm."""
RECORDINGS = Path(__file__).parents[2] / "tests" / "recordings"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One recorded program: what was done to it, and what the report says."""

    program: str
    cause: str
    """The injected one, or `healthy`."""
    lost_seconds: float | None
    """Injected; None where nobody can know."""
    neighbour_cores: float | None
    """Cores that other processes kept busy meanwhile."""
    run: Run
    report: Report

    @property
    def excused(self) -> frozenset[str]:
        """Causes that are really there besides the injected one."""
        busy = self.neighbour_cores is not None and self.neighbour_cores >= BUSY_CORES
        return frozenset({"warm_up", "cpu_contention"} if busy else {"warm_up"})

    @property
    def blamed(self) -> tuple[str, ...]:
        """The named causes, without those that are excused."""
        causes = (cause.cause for cause in self.report.causes)
        return tuple(each for each in causes if each == self.cause or each not in self.excused)

    @property
    def named(self) -> str:
        """The cause that the report puts first, `healthy` without one."""
        return self.blamed[0] if self.blamed else HEALTHY

    @property
    def found_seconds(self) -> float:
        """Seconds that the report charges to the injected cause."""
        return sum(each.lost_seconds for each in self.report.causes if each.cause == self.cause)

    @property
    def error(self) -> float | None:
        """Of the seconds, as a share of the truth; None where that is not known."""
        if not self.lost_seconds:
            return None
        return (self.found_seconds - self.lost_seconds) / self.lost_seconds

    @property
    def wrongly_blamed(self) -> float:
        """Seconds charged to what was not injected and is not excused, as a share of the wall."""
        wrong = {each for each in self.blamed if each != self.cause}
        seconds = sum(each.lost_seconds for each in self.report.causes if each.cause in wrong)
        return seconds / self.report.wall_seconds


def read_outcome(directory: Path) -> Outcome:
    """Reads and reports one recorded run that has a truth."""
    truth = json.loads((directory / "truth.json").read_text())
    (run,) = read_runs(str(directory), warn=print)
    return Outcome(
        directory.name,
        truth["cause"],
        truth["lost_seconds"],
        truth["neighbour_cores"],
        run,
        account_for(run).report,
    )


def main() -> None:
    """Prints a row for each run, and what they come to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.real", description=__doc__)
    parser.add_argument("directory", nargs="?", type=Path, default=RECORDINGS)
    directory = parser.parse_args().directory
    outcomes = [read_outcome(path.parent) for path in sorted(directory.glob("*/truth.json"))]
    for outcome in outcomes:
        print(describe_outcome(outcome))
    for line in sum_up(outcomes):
        print(line)


def describe_outcome(outcome: Outcome) -> str:
    """One line: right or wrong, the truth, and what the report says."""
    right = "ok" if outcome.named == outcome.cause else "WRONG"
    truth = "?" if outcome.lost_seconds is None else f"{outcome.lost_seconds:.2f}"
    error = "" if outcome.error is None else f"{outcome.error:+.0%}"
    report = outcome.report
    causes = ", ".join(f"{each.cause} {each.lost_seconds:.2f}" for each in report.causes)
    return (
        f"{right:5} {outcome.program:34} {report.steps:5} steps {report.wall_seconds:6.2f} s  "
        f"truth {truth:>6} {error:>6}  {causes or '-'}; unexplained "
        f"{report.unexplained_seconds:.2f}; neighbours {outcome.neighbour_cores} cores"
    )


def sum_up(outcomes: Sequence[Outcome]) -> Iterable[str]:
    """What several outcomes come to."""
    sick = [each for each in outcomes if each.cause != HEALTHY]
    well = [each for each in outcomes if each.cause == HEALTHY]
    yield ""
    yield describe_share("right first cause", [each.named == each.cause for each in sick])
    yield describe_share("blamed though healthy", [bool(each.blamed) for each in well])
    yield describe_errors(outcomes)
    wrong = [each.wrongly_blamed for each in outcomes]
    yield f"wrongly blamed, share of the wall: 95th percentile {quantile(wrong, 0.95):.2%}"
    confused = Counter((each.cause, each.named) for each in outcomes if each.named != each.cause)
    for (cause, named), count in sorted(confused.items()):
        yield f"  {cause} called {named}: {count}"


def describe_errors(outcomes: Sequence[Outcome]) -> str:
    """How far the seconds of the injected causes are off, where the injector knows them."""
    errors = [abs(each.error) for each in outcomes if each.error is not None]
    if not errors:
        return "error of lost seconds: no run"
    return (
        f"error of lost seconds: median {quantile(errors, 0.5):.1%}, "
        f"90th percentile {quantile(errors, 0.9):.1%}"
    )


def describe_share(what: str, hits: Sequence[bool]) -> str:
    """How many of several outcomes are so, with an interval of 95 %."""
    if not hits:
        return f"{what}: no run"
    low, high = interval(sum(hits), len(hits))
    return f"{what}: {sum(hits)} of {len(hits)} (95 % interval {low:.0%} - {high:.0%})"


if __name__ == "__main__":
    main()
