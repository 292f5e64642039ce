"""Runs all sealed programs once, judges them, and prints the table with its interval."""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.accuracy.score import interval
from benchmarks.accuracy.sealed.answers import ANSWERS, EXCUSED
from tb_slowdown_plugin.analysis.report_builder import account_for
from tb_slowdown_plugin.reader.logdir import read_runs

_LONGEST_SECONDS: Final = 300
_RUN: Final = (
    "import sys; from benchmarks.accuracy.sealed import slow, healthy; "
    "name, logdir = sys.argv[1:]; "
    "(getattr(slow, name, None) or getattr(healthy, name))(logdir)"
)


class Outcome(NamedTuple):
    """What the report said of a program."""

    name: str
    verdict: str
    named: tuple[str, ...]
    """Causes, the largest first, without those that are excused."""
    wall_seconds: float

    @property
    def is_right(self) -> bool:
        """The first cause is the defect's; of a healthy one there is none, and no slowdown."""
        answers = ANSWERS[self.name]
        if answers:
            return bool(self.named) and self.named[0] in answers
        return not self.named and self.verdict != "slowdown"


def main() -> None:
    """Prints a row for each program, and what they come to."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.sealed")
    parser.add_argument("--keep", type=Path, help="leave the records in this directory")
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        print("| program | answer | verdict | named | right |\n|---|---|---|---|---|")
        outcomes = []
        for name in options.names or ANSWERS:
            outcome = judge(name, directory / name)
            outcomes.append(outcome)
            print(
                f"| {name} | {' or '.join(ANSWERS[name]) or 'healthy'} | {outcome.verdict} "
                f"({outcome.wall_seconds:.1f} s) | {', '.join(outcome.named) or '-'} | "
                f"{'yes' if outcome.is_right else '**no**'} |",
                flush=True,
            )
    slow = [each.is_right for each in outcomes if ANSWERS[each.name]]
    healthy = [not each.is_right for each in outcomes if not ANSWERS[each.name]]
    print()
    print(f"right first cause: {tell(slow)}")
    print(f"blamed, or called slow, though healthy: {tell(healthy)}")


def judge(name: str, logdir: Path) -> Outcome:
    """Runs a program in a process of its own, and reads its report."""
    logdir.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    try:
        subprocess.run(
            [sys.executable, "-c", _RUN, name, str(logdir)],
            capture_output=True,
            text=True,
            timeout=_LONGEST_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        seconds = time.perf_counter() - began
        print(f"{name} failed after {seconds:.0f} s: {str(error.stderr)[-600:]}", file=sys.stderr)
        return Outcome(name, "failed", (), seconds)
    runs = read_runs(str(logdir), warn=lambda text: print(text, file=sys.stderr))
    *_, run = runs
    report = account_for(run).report
    named = tuple(each.cause for each in report.causes if each.cause not in EXCUSED)
    return Outcome(name, report.verdict, named, report.wall_seconds)


def tell(hits: list[bool]) -> str:
    """So many of so many, with the 95 % interval of Clopper and Pearson."""
    low, high = interval(sum(hits), len(hits))
    return f"{sum(hits)} of {len(hits)} (95 %: {low:.0%} to {high:.0%})"


if __name__ == "__main__":
    main()
