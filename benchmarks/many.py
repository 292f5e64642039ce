"""A logdir with 1,000 runs, a run of 100 workers, and a run with 500 retraced functions.

    python benchmarks/many.py [--runs 1000] [--workers 100] [--functions 500] [--loader rust]

Each is written as a real group of event files and served by a real TensorBoard. Prints a table
in Markdown: seconds of the first answer, median milliseconds of the next ones, and what the
command `tbslow report` takes for the same logdir, with its memory at the peak.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import event_files  # noqa: E402
from integration.tensorboard_process import LOADERS, TensorBoardProcess  # noqa: E402

from benchmarks.row import Row  # noqa: E402
from tb_slowdown_plugin.records.types import (  # noqa: E402
    Environment,
    Event,
    Execution,
    Trace,
)

RUNS: Final = 1000
WORKERS: Final = 100
FUNCTIONS: Final = 500
STEPS = 5_000
TIMES = 5
SETTLE_SECONDS = 3.0
"""TensorBoard lists a run before it has read its records."""


class Answered(NamedTuple):
    """How long a route took, in seconds; of the command there is one time only."""

    logdir: str
    what: str
    first: float
    next_ones: float | None
    size: int | None
    """Bytes."""
    cpu: float | None
    """Seconds of CPU of the command."""
    peak: float | None
    """Megabytes, likewise."""


def write_runs(logdir: Path, count: int) -> None:
    """Runs of 5,000 steps, each with three accounts."""
    for number in range(count):
        accounts = {"input_wait": 0.01, "gc": 0.001, "callback:Logger": 0.002}
        steps = event_files.make_steps(STEPS, seed=number, accounts=accounts)
        chunks = event_files.split(steps, session=f"{number:08x}")
        event_files.write_chunks(logdir / f"sweep/{number:04d}" / "slowdown", chunks)


def write_workers(logdir: Path, count: int) -> None:
    """One run in which each worker waits for worker 7."""
    random = np.random.default_rng(0)
    late = np.where(random.random(STEPS) < 0.1, 0.05, 0.0)
    for worker in range(count):
        steps = event_files.make_steps(STEPS, seconds=0.1)
        wait = np.full(STEPS, 0.002) if worker == 7 else 0.002 + late
        wait = np.rint((wait + 1e-4 * random.random(STEPS)) * 1e6) / 1e6
        steps.accounts["communication"] = wait  # type: ignore[index]
        steps.period_seconds[:] += late
        steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
        chunks = event_files.split(
            steps,
            session=f"{worker:08x}",
            environment=Environment(worker_index=worker, worker_count=count),
        )
        folder = logdir / "group" / "slowdown"
        event_files.write_chunks(folder / f"worker-{worker}" if worker else folder, chunks)


def write_functions(logdir: Path, count: int) -> None:
    """One run in which each of many functions is traced again forty times."""
    steps = event_files.make_steps(40 * count)
    events = []
    for row in range(len(steps)):
        function = row % count
        cause = "first" if row < count else "signature"
        when = float(steps.ended[row])
        place = f"model.py:{function}"
        trace = Trace(row, f"layer_{function}", place, 0.03, 0.02, cause, operations=100)
        events += [Event(row, when, trace), Event(row, when, Execution(row, 1, 0.01))]
    steps.accounts["tracing:again"] = np.full(len(steps), 0.03)  # type: ignore[index]
    steps.period_seconds[:] += 0.03
    steps.ended[:] = event_files.STARTED + np.cumsum(steps.period_seconds)
    chunks = event_files.split(steps, events=events)
    event_files.write_chunks(logdir / "retraced" / "slowdown", chunks)


def answers(board: TensorBoardProcess, route: str, **query: str) -> tuple[float, float, int]:
    """Seconds of the first answer, their median of the next ones, and bytes."""
    taken = []
    for _ in range(1 + TIMES):
        began = time.perf_counter()
        answer = board.slowdown(route, **query)
        taken.append(time.perf_counter() - began)
        if answer.status != 200:
            raise SystemExit(f"{route}: {answer.status} {answer.body[:200]!r}")
    return taken[0], statistics.median(taken[1:]), len(answer.body)


def report_seconds(logdir: Path) -> tuple[float, float, float]:
    """Wall seconds, CPU seconds and peak megabytes of the command, in a process of its own."""
    program = (  # `ru_maxrss` would begin with the memory of this process
        "import resource, sys; from tb_slowdown_plugin.__main__ import main; status = main();"
        "used = resource.getrusage(resource.RUSAGE_SELF);"
        "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0];"
        "print(used.ru_utime + used.ru_stime, peak, file=sys.stderr);"
        "sys.exit(status)"
    )
    began = time.perf_counter()
    command = [sys.executable, "-c", program, "report", str(logdir), "--format", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    cpu_seconds, peak_kilobytes = done.stderr.split()[-2:]
    return time.perf_counter() - began, float(cpu_seconds), int(peak_kilobytes) / 1024


def ask(
    title: str, logdir: Path, runs: int, asked: list[tuple[str, dict[str, str]]], loader: str
) -> Iterator[Answered]:
    """Each question about a logdir, and the command; `runs` of TensorBoard's are in it."""
    arguments = ["--logdir", str(logdir), *LOADERS[loader]]
    with TensorBoardProcess(arguments, logdir.parent, has_tensorflow=True) as board:
        board.wait_until(
            "TensorBoard has read all runs", lambda: len(board.request("/data/runs").json) >= runs
        )
        time.sleep(SETTLE_SECONDS)
        for route, query in asked:
            first, next_ones, size = answers(board, route, **query)
            yield Answered(title, f"`{route}`", first, next_ones, size, None, None)
    seconds, cpu, peak = report_seconds(logdir)
    yield Answered(title, "`tbslow report`", seconds, None, None, cpu, peak)


def all_answers(runs: int, workers: int, functions: int, loader: str) -> Iterator[Answered]:
    """Writes each logdir, serves it, and asks."""
    group, retraced = {"run": "group"}, {"run": "retraced"}
    for title, write, count, of_tensorboard, asked in (
        (
            f"{runs:,} runs of {STEPS:,} steps", write_runs, runs, runs,
            [("runs", {}), ("report", {"run": f"sweep/{runs // 2:04d}"})],
        ),
        (
            f"{workers} workers of {STEPS:,} steps", write_workers, workers, workers,
            [("runs", {}), ("report", group), ("timeline", group)],
        ),
        (
            f"{functions} functions, 40 traces of each", write_functions, functions, 1,
            [("report", retraced), ("retraces", retraced), ("timeline", retraced)],
        ),
    ):  # fmt: skip
        with tempfile.TemporaryDirectory() as name:
            logdir = Path(name) / "logs"
            write(logdir, count)
            yield from ask(title, logdir, of_tensorboard, asked, loader)


def measure() -> list[Row]:
    """The same as rows of the table of all benchmarks."""
    rows = []
    for found in all_answers(RUNS, WORKERS, FUNCTIONS, "rust"):
        if found.next_ones is None:
            figure, beside = (
                f"{found.first:.1f} s ({found.cpu:.1f} s of CPU), {found.peak:.0f} MB",
                "",
            )
        else:
            figure = f"first answer {found.first:.2f} s"
            beside = f"the next ones {1000 * found.next_ones:.0f} ms"
        rows.append(Row(f"{found.logdir}: {found.what}", figure, beside))
    return rows


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--functions", type=int, default=FUNCTIONS)
    parser.add_argument("--loader", choices=list(LOADERS), default="rust")
    given = parser.parse_args()
    print("| what | first, s | next ones, ms | KB | CPU, s | peak, MB |")
    print("|---|---|---|---|---|---|", flush=True)
    for found in all_answers(given.runs, given.workers, given.functions, given.loader):
        next_ones = "" if found.next_ones is None else f"{1000 * found.next_ones:.0f}"
        size = "" if found.size is None else f"{found.size / 1000:.0f}"
        peak = "" if found.peak is None else f"{found.peak:.0f}"
        cpu = "" if found.cpu is None else f"{found.cpu:.1f}"
        print(
            f"| {found.logdir}: {found.what} | {found.first:.2f} | {next_ones} | {size} | "
            f"{cpu} | {peak} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
