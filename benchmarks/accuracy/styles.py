"""Runs a set of programs in the styles of users once, judges them, and prints its table.

There are two sets: `benchmarks/accuracy/sealed`, of which nobody knows the outcome before, and
`benchmarks/accuracy/tune`, which has been looked at.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from benchmarks.accuracy.score import interval
from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.causes import Place
from tb_slowdown_plugin.reader.logdir import read_runs

LONGEST_SECONDS: Final = 120
"""A program that takes longer is killed, and judged by what it has recorded."""
EXCUSED: Final = frozenset({"warm_up", "cpu_contention"})
"""Never an error: the start is true, and other work was on the machine."""
_ROOT: Final = Path(__file__).parents[2]


class Answer(NamedTuple):
    """What is right of a program."""

    causes: tuple[str, ...] = ()
    """Those that may be named first; none for a healthy one."""
    lines: tuple[str, ...] = ()
    """Pieces of its text: a statement or a function with one of them is the place; () for any."""


class ProgramSet(NamedTuple):
    """Programs by name, and how to run them."""

    name: str
    answers: Mapping[str, Answer]
    command: Callable[[str], list[str]]
    """Name -> what is run in an empty directory, and records in its `logs`."""
    source: Callable[[str], Path]


class Outcome(NamedTuple):
    """What the report said of a program."""

    answer: Answer
    verdict: str
    named: tuple[str, ...]
    """Causes, the largest first, without those that are excused."""
    place: Place | None
    """Of the first of them."""
    wall_seconds: float
    is_placed: bool | None
    """The place of the first cause is the defect's; None where no place was asked for."""

    @property
    def is_right(self) -> bool:
        """The first cause is the defect's; of a healthy one there is none, and no slowdown."""
        if self.answer.causes:
            return bool(self.named) and self.named[0] in self.answer.causes
        return not self.named and self.verdict != "slowdown"

    def describe(self, name: str) -> str:
        """A row of the table."""
        place = f"{Path(self.place.file).name}:{self.place.line}" if self.place else "-"
        cells = [
            name,
            " or ".join(self.answer.causes) or "healthy",
            f"{self.verdict} ({self.wall_seconds:.1f} s)",
            ", ".join(self.named) or "-",
            "yes" if self.is_right else "**no**",
            "" if self.is_placed is None else f"{'yes' if self.is_placed else '**no**'} ({place})",
        ]
        return f"| {' | '.join(cells)} |"


def main(programs: ProgramSet) -> None:
    """Prints a row for each program, and what they come to."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.accuracy.{programs.name}")
    parser.add_argument("--keep", type=Path, help="leave the records in this directory")
    parser.add_argument("--judge", type=Path, help="judge what was kept there, and run nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="run only these")
    options = parser.parse_args()
    print(f"Load {os.getloadavg()[1]:.1f} on {os.cpu_count()} cores.\n")
    print("| program | answer | verdict | named | right | place |\n|---|---|---|---|---|---|")
    outcomes = []
    with tempfile.TemporaryDirectory() as temporary:
        kept = (options.judge or options.keep or Path(temporary)).resolve()
        for name in options.names or programs.answers:
            if not options.judge:
                run(name, programs.command(name), kept / name)
            outcomes.append(
                judge(kept / name / "logs", programs.answers[name], programs.source(name))
            )
            print(outcomes[-1].describe(name), flush=True)
    slow = [each for each in outcomes if each.answer.causes]
    healthy = [each for each in outcomes if not each.answer.causes]
    placed = [each.is_placed for each in slow if each.is_right and each.is_placed is not None]
    print(f"\nLoad {os.getloadavg()[1]:.1f}.")
    print(f"right first cause: {tell([each.is_right for each in slow])}")
    print(f"place of those is right: {tell(placed)}")
    print(f"blamed, or called slow, though healthy: {tell([not e.is_right for e in healthy])}")


def script_in(folder: Path, name: str) -> Path:
    """Where a script is, alone or in a folder with its modules."""
    alone = folder / f"{name}.py"
    return alone if alone.is_file() else folder / name / f"{name}.py"


def files_of(script: Path) -> list[Path]:
    """A script with its modules, where it has a folder of its own."""
    return sorted(script.parent.rglob("*.py")) if script.parent.name == script.stem else [script]


def monitored(script: Path) -> list[str]:
    """Runs a script under the monitor; one that uses the API itself writes there, too."""
    run_script = [sys.executable, "-m", "tb_slowdown_plugin", "run", "--quiet", "--logdir", "logs"]
    return [*run_script, str(script)]


def run(name: str, command: list[str], directory: Path) -> None:
    """Runs a program in a process and a directory of its own."""
    directory.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    try:
        subprocess.run(
            command,
            cwd=directory,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LONGEST_SECONDS,
            check=True,
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        seconds = time.perf_counter() - began
        print(f"{name} failed after {seconds:.0f} s: {str(error.stderr)[-600:]}", file=sys.stderr)


def judge(logdir: Path, answer: Answer, source: Path) -> Outcome:
    """What the report of a recording says."""
    runs = (
        list(read_runs(str(logdir), warn=lambda text: print(text, file=sys.stderr)))
        if logdir.exists()
        else []
    )
    if not runs:
        return Outcome(answer, "no record", (), None, 0.0, False if answer.lines else None)
    report = account_for(runs[-1]).report
    causes = [each for each in report.causes if each.cause not in EXCUSED]
    place = causes[0].place if causes else None
    is_placed = None
    if answer.lines:
        is_placed = bool(place) and any(
            place.line in lines_of(each.read_text(encoding="utf-8"), answer.lines)
            for each in files_of(source)
            if each.name == Path(place.file).name
        )
    named = tuple(each.cause for each in causes)
    return Outcome(answer, report.verdict, named, place, report.wall_seconds, is_placed)


def lines_of(text: str, pieces: tuple[str, ...]) -> set[int]:
    """Lines of the statements, or of the whole functions and classes, that begin with a piece."""
    found: set[int] = set()
    lines = text.splitlines()
    for first, last, head in _statements(ast.parse(text)):
        if any(piece in line for line in lines[first - 1 : head] for piece in pieces):
            found.update(range(first, last + 1))
    return found


def _statements(tree: ast.AST) -> Iterator[tuple[int, int, int]]:
    """First and last line of each, and the last line of its head; of a loop the head alone."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt):
            continue
        last = node.end_lineno or node.lineno
        body = getattr(node, "body", None)
        head = max(body[0].lineno - 1, node.lineno) if body else last
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield min([node.lineno, *(e.lineno for e in node.decorator_list)]), last, head
        else:
            yield node.lineno, head, head


def tell(hits: list[bool]) -> str:
    """So many of so many, with the 95 % interval of Clopper and Pearson."""
    low, high = interval(sum(hits), len(hits))
    return f"{sum(hits)} of {len(hits)} (95 %: {low:.0%} to {high:.0%})"
