"""Records each test program beside a process that takes a core, and judges its report.

    python -m benchmarks.accuracy.busy [--programs NAME,NAME] [--times 5] [--keep DIRECTORY]
    python -m benchmarks.accuracy.busy --judge DIRECTORY [DIRECTORY ...]

The second judges recordings that the first has kept again, with the engine as it is now:
DIRECTORY is the one given to `--keep`, or one round in it (`DIRECTORY/0`).

The program is held to two cores, and the neighbour spins on one of them, so that they
really are in each other's way, however many cores there are. Needs Linux and TensorFlow;
all programs, five times each, take about an hour. Nothing here runs in the tests.

What should come out: the injected cause stands first, the neighbour is called
`cpu_contention`, and nothing else is blamed on a healthy program.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.accuracy.real import (
    BUSY_CORES,
    HEALTHY,
    Outcome,
    describe_errors,
    describe_outcome,
    describe_share,
    read_outcome,
)
from benchmarks.accuracy.recording import PROGRAMS, ProgramFailed, record
from benchmarks.accuracy.score import quantile

_HEALTHY = "_healthy"
_SPIN = "while True: pass"


def main() -> None:
    """Records, judges, and prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy.busy", description=__doc__)
    parser.add_argument("--programs", default="", help="names, separated by commas; all without")
    parser.add_argument("--times", type=int, default=5, help="recordings of each program")
    parser.add_argument("--cores", type=int, default=2, help="cores that the program may use")
    parser.add_argument("--neighbours", type=int, default=1, help="processes that take one each")
    parser.add_argument("--keep", type=Path, help="leave the recordings in this directory")
    parser.add_argument("--judge", type=Path, nargs="+", help="kept recordings; record nothing")
    options = parser.parse_args()
    if options.judge:
        rounds = judge(options.judge)
        every = [outcome for outcomes in rounds.values() for outcome in outcomes]
        for outcome in sorted(every, key=lambda each: each.program):
            print(describe_outcome(outcome))
        for line in (*_tabulate(every), *_tabulate_rounds(rounds)):
            print(line)
        return
    known = list_programs()
    names = options.programs.split(",") if options.programs else known
    unknown = sorted(set(names) - set(known))
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(known)}")
    cores = sorted(os.sched_getaffinity(0))[: options.cores]
    os.sched_setaffinity(0, cores)
    outcomes = []
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or Path(temporary)
        total = len(names) * options.times
        # Round after round, so that what the machine does meanwhile meets all programs alike.
        for done in range(total):
            name, turn = names[done % len(names)], done // len(names)
            print(f"[{done + 1} of {total}] {name:34} ", end="", flush=True)
            program = PROGRAMS / f"{name.removesuffix(_HEALTHY)}.py"
            try:
                with neighbours(cores[: options.neighbours]):
                    target = directory / str(turn) / name
                    outcome = record(program, target, healthy=name.endswith(_HEALTHY))
            except ProgramFailed as error:
                print(f"failed: {error}", flush=True)
                continue
            outcomes.append(_beside_neighbour(outcome))
            print(_describe(outcomes[-1]), flush=True)
    for line in _tabulate(outcomes):
        print(line)


def judge(directories: Sequence[Path]) -> dict[str, list[Outcome]]:
    """Judges all recordings in these directories; those of a round lie in one folder."""
    rounds: dict[str, list[Outcome]] = {}
    found = {path.parent for directory in directories for path in directory.rglob("truth.json")}
    for path in sorted(found):
        rounds.setdefault(path.parent.name, []).append(_beside_neighbour(read_outcome(path)))
    return rounds


def _beside_neighbour(outcome: Outcome) -> Outcome:
    # A core was taken, whatever the count came to: half of one where they share it.
    return replace(outcome, neighbour_cores=BUSY_CORES)


def list_programs() -> list[str]:
    """The programs of `tests/programs`, and those with a defect without it, too."""
    names = []
    for path in sorted(PROGRAMS.glob("*.py")):
        if "injector.run(" in path.read_text():
            names.append(path.stem)
            if not path.stem.startswith("control_"):
                names.append(path.stem + _HEALTHY)
    return names


@contextmanager
def neighbours(cores: Sequence[int]) -> Iterator[None]:
    """Processes that do nothing but take one of these cores each."""
    spinning = [subprocess.Popen([sys.executable, "-c", _SPIN]) for _ in cores]
    try:
        for process, core in zip(spinning, cores, strict=True):
            os.sched_setaffinity(process.pid, {core})
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def _describe(outcome: Outcome) -> str:
    report = outcome.report
    right = "ok   " if outcome.named == outcome.cause else "WRONG"
    causes = ", ".join(f"{each.cause} {each.lost_seconds:.2f}" for each in report.causes) or "-"
    return (
        f"{right} {report.wall_seconds:6.2f} s: {causes}; unexplained "
        f"{report.unexplained_seconds:.2f}"
    )


def _tabulate(outcomes: Sequence[Outcome]) -> Iterable[str]:
    yield ""
    yield "| program | runs | first cause right | cpu_contention | else blamed | unexplained |"
    yield "|---|---|---|---|---|---|"
    for name in dict.fromkeys(each.program for each in outcomes):
        mine = [each for each in outcomes if each.program == name]
        others = sorted({cause for each in mine for cause in _also_blamed(each)})
        unexplained = [each.report.unexplained_seconds / each.report.wall_seconds for each in mine]
        yield (
            f"| {name} | {len(mine)} | {sum(each.named == each.cause for each in mine)} | "
            f"{sum(_names_neighbour(each) for each in mine)} | {', '.join(others) or '-'} | "
            f"{quantile(unexplained, 0.5):.0%} |"
        )
    sick = [each for each in outcomes if each.cause != HEALTHY]
    well = [each for each in outcomes if each.cause == HEALTHY]
    yield ""
    yield describe_share("right first cause", [each.named == each.cause for each in sick])
    yield describe_share("healthy, and something else blamed", [bool(each.blamed) for each in well])
    yield describe_share("healthy, and cpu_contention named", [_names_neighbour(e) for e in well])
    yield describe_errors(sick)


def _tabulate_rounds(rounds: Mapping[str, Sequence[Outcome]]) -> Iterable[str]:
    yield ""
    yield "| round | right first cause | healthy, else blamed | healthy, cpu_contention named |"
    yield "|---|---|---|---|"
    every = [outcome for outcomes in rounds.values() for outcome in outcomes]
    for name, outcomes in (*rounds.items(), ("all", every)):
        sick = [each.named == each.cause for each in outcomes if each.cause != HEALTHY]
        well = [each for each in outcomes if each.cause == HEALTHY]
        yield (
            f"| {name} | {sum(sick)} of {len(sick)} | {sum(bool(each.blamed) for each in well)} of "
            f"{len(well)} | {sum(map(_names_neighbour, well))} of {len(well)} |"
        )


def _also_blamed(outcome: Outcome) -> list[str]:
    return [cause for cause in outcome.blamed if cause != outcome.cause]


def _names_neighbour(outcome: Outcome) -> bool:
    return any(each.cause == "cpu_contention" for each in outcome.report.causes)


if __name__ == "__main__":
    main()
