"""What `tbslow fleet` takes: seconds, processes, memory of a worker, and an unchanged second call.

    python benchmarks/fleet.py [--runs 1000] [--workers 1 2] [--recordings]

Writes runs of 5,000 steps (or copies the recordings of the tests under new names), judges all with
each number of processes, and prints a table in Markdown. With --memory it judges runs of
20,000 to 1,000,000 steps instead, each in a new process, and prints what it takes at its peak.
"""

from __future__ import annotations

import argparse
import multiprocessing
import re
import resource
import shutil
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

import event_files  # noqa: E402

from benchmarks.many import write_runs  # noqa: E402
from tb_slowdown_plugin.jobs.fleet.collecting import Wish, collect, find_runs  # noqa: E402
from tb_slowdown_plugin.jobs.fleet.executors import ProcessPool  # noqa: E402
from tb_slowdown_plugin.report.fleet.tables import (  # noqa: E402
    FleetTables,
    causes_file,
    read_tables,
    write_tables,
)

GIB: Final = 1 << 30
LONG_STEPS: Final = (20_000, 100_000, 300_000, 1_000_000)


class Took(NamedTuple):
    """One call."""

    seconds: float
    worker_seconds: float
    """CPU time of all workers together."""
    worker_megabytes: float
    """The largest of them at its peak."""
    tables: FleetTables


def judge(logdir: Path, workers: int, previous: FleetTables | None, limit: int = GIB) -> Took:
    """One call; its processes have ended when it returns."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = Peak()
    began = time.monotonic()
    tables = collect(
        find_runs(Wish([str(logdir)]), print),
        previous,
        ProcessPool(workers, limit),
        limit,
        team=None,
        progress=lambda *_: None,
        save=lambda _: None,
    )
    seconds = time.monotonic() - began
    for process in multiprocessing.active_children():
        process.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Took(seconds, cpu, peak.megabytes(), tables)


class Peak:
    """The largest of the processes that this one starts; `ru_maxrss` would be this one's."""

    def __init__(self) -> None:
        self._most = 0.0
        self._has_ended = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def _look(self) -> None:
        while not self._has_ended.wait(0.05):
            for process in multiprocessing.active_children():
                self._most = max(self._most, peak_megabytes(process.pid))

    def megabytes(self) -> float:
        """Ends it."""
        self._has_ended.set()
        self._thread.join()
        return self._most


def peak_megabytes(process: int | str | None) -> float:
    """What a process had in memory at its peak."""
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except OSError:
        return 0.0
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    return int(found[1]) / 1024 if found else 0.0


def copy_recordings(logdir: Path, count: int) -> None:
    """Real recordings under the names of several teams."""
    found = sorted((ROOT / "tests/recordings").iterdir())
    for number in range(count):
        source = found[number % len(found)]
        shutil.copytree(source, logdir / f"team{number % 7}/{number:04}-{source.name}")


def measure(arguments: argparse.Namespace, folder: Path) -> None:
    """Prints the table."""
    logdir = folder / "logs"
    (copy_recordings if arguments.recordings else write_runs)(logdir, arguments.runs)
    size = sum(run.size for run in find_runs(Wish([str(logdir)]), print))
    print(f"{arguments.runs} runs, {size / 1e3 / arguments.runs:.0f} KB each\n")
    print("| processes | seconds | CPU of a run, ms | MB of a worker at its peak |")
    print("|---|---|---|---|")
    took = None
    for workers in arguments.workers:
        took = judge(logdir, workers, None)
        cpu = 1000 * took.worker_seconds / arguments.runs
        print(f"| {workers} | {took.seconds:.1f} | {cpu:.0f} | {took.worker_megabytes:.0f} |")
    assert took is not None
    file = str(folder / "fleet.parquet")
    write_tables(took.tables, file)
    again = judge(logdir, arguments.workers[-1], read_tables(file))
    assert again.tables.runs.equals(took.tables.runs)
    print(f"\nunchanged: {again.seconds:.2f} s, {took.seconds / again.seconds:.0f} times as fast")
    sizes = [Path(each).stat().st_size / arguments.runs for each in (file, causes_file(file))]
    print(f"Parquet: {sizes[0]:.0f} B a run, and {sizes[1]:.0f} B of causes")


def measure_memory(folder: Path) -> None:
    """Prints what long runs take, in processes that are bounded and in one that is not."""
    print("| steps | --memory-limit | MB at the peak | seconds | found |")
    print("|---|---|---|---|---|")
    for steps in LONG_STEPS:
        logdir = folder / str(steps)
        table = event_files.make_steps(
            steps, seed=1, accounts={f"phase:{number}": 0.002 for number in range(6)}
        )
        event_files.write_chunks(logdir / "slowdown", event_files.split(table, chunk_rows=1000))
        for limit in (300 << 20, GIB):
            context = multiprocessing.get_context("spawn")
            with context.Pool(1) as pool:
                peak, seconds, status = pool.apply(_judge_alone, (str(logdir), limit))
            print(f"| {steps:,} | {limit >> 20} MB | {peak:.0f} | {seconds:.1f} | {status} |")


def _judge_alone(logdir: str, limit: int) -> tuple[float, float, str]:
    from tb_slowdown_plugin.jobs.fleet.judging import judge_batch
    from tb_slowdown_plugin.jobs.fleet.worker_limits import limit_worker
    from tb_slowdown_plugin.reader.stored_runs import list_runs

    limit_worker(limit)
    began = time.monotonic()
    ((row,), _) = judge_batch(list_runs(logdir, print), limit)[0]
    return peak_megabytes("self"), time.monotonic() - began, row["reason"] or row["verdict"]


def main() -> None:
    """Measures and prints."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--runs", type=int, default=1000)
    arguments.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    arguments.add_argument("--recordings", action="store_true")
    arguments.add_argument("--memory", action="store_true")
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if chosen.memory:
            measure_memory(Path(folder))
        else:
            measure(chosen, Path(folder))


if __name__ == "__main__":
    main()
