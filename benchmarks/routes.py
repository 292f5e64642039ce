"""How long each route of a real TensorBoard takes, asked by one client and by twenty at once.

    python benchmarks/routes.py [--steps 1000000] [--clients 20] [--rounds 20] [--loader rust]

Prints a table in Markdown: CPU time of TensorBoard's process for an answer, and median and 95th
percentile of the wall time from the request to the last byte, in milliseconds, gzip accepted.
On a machine with other work the CPU time is the one to compare. "new" are ranges that nobody
has asked for before, "same" is one that has been asked for. The clients share the machine
with the server.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from integration.tensorboard_process import LOADERS, TensorBoardProcess  # noqa: E402

from benchmarks import long_run  # noqa: E402

RUN = "long"
PACKED = {"Accept-Encoding": "gzip"}

Question = Callable[[], str]
"""Makes the path and query of the next request."""


class Client:
    """One connection, kept open as a browser does."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection("localhost", port, timeout=300)

    def ask(self, question: str) -> tuple[float, int]:
        """Milliseconds that the answer took, and its bytes."""
        began = time.perf_counter()
        self._connection.request("GET", f"/data/plugin/slowdown/{question}", headers=PACKED)
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise SystemExit(f"{question}: {response.status} {body[:200]!r}")
        return 1000 * (time.perf_counter() - began), len(body)


def questions(steps: int, seed: int) -> dict[str, Question]:
    """What is asked, by the name of the row in the table."""
    place = random.Random(seed)

    def fixed(route: str, **query: int) -> Question:
        asked = f"{route}?{urlencode({'run': RUN, **query})}"
        return lambda: asked

    def ranges(route: str, rows: int) -> Question:
        def ask() -> str:
            first = place.randrange(max(1, steps - rows))
            return f"{route}?{urlencode({'run': RUN, 'first': first, 'last': first + rows - 1})}"

        return ask

    def whole() -> str:
        # A range that differs by a few rows: the work of the whole run, never kept.
        first = place.randrange(steps // 100)
        return f"timeline?{urlencode({'run': RUN, 'first': first})}"

    return {
        "runs": lambda: "runs",
        "report, same": fixed("report"),
        "timeline of all steps, same": fixed("timeline"),
        "timeline of all steps, new": whole,
        "timeline of 2,000 steps, new": ranges("timeline", 2_000),
        "changed, 1,000 steps, new": ranges("changed", 1_000),
        "changed, 100,000 steps, new": ranges("changed", 100_000),
        "changed, a fifth of the run, same": fixed(
            "changed", first=steps * 3 // 5, last=steps * 4 // 5
        ),
        "retraces, same": fixed("retraces"),
        "captures": fixed("captures"),
    }


def measure(port: int, steps: int, name: str, clients: int, rounds: int) -> tuple[list[float], int]:
    """Milliseconds of each answer, and the bytes of the largest."""
    gate = threading.Barrier(clients)
    found: list[tuple[float, int]] = []

    def work(number: int) -> None:
        client = Client(port)
        question = questions(steps, 1000 * clients + number)[name]
        for _ in range(rounds):
            gate.wait()
            found.append(client.ask(question()))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [milliseconds for milliseconds, _ in found], max(size for _, size in found)


def cpu_milliseconds(pid: int) -> float:
    """CPU time of a process so far, of all its threads, those that ended among them."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return 1000 * (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def rows(board: TensorBoardProcess, steps: int, clients: int, rounds: int) -> Iterator[str]:
    """The table, line by line."""
    yield f"| route | CPU, ms | 1 client, p50 / p95 ms | {clients} clients, p50 / p95 ms | KB |"
    yield "|---|---|---|---|---|"
    for name in questions(steps, 0):
        cells = []
        for count in (1, clients):
            before = cpu_milliseconds(board.pid)
            taken, size = measure(board.port, steps, name, count, rounds)
            if count == 1:
                cells.append(f"{(cpu_milliseconds(board.pid) - before) / rounds:.1f}")
            middle, high = np.percentile(taken, [50, 95])
            cells.append(f"{middle:.1f} / {high:.1f}")
        yield f"| {name} | {' | '.join(cells)} | {size / 1000:.0f} |"


def main() -> None:
    """Write the run, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1_000_000)
    parser.add_argument("--clients", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--loader", choices=list(LOADERS), default="rust")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        long_run.write(folder / "logs" / RUN / "slowdown", given.steps)
        arguments = ["--logdir", str(folder / "logs"), *LOADERS[given.loader]]
        with TensorBoardProcess(arguments, folder) as board:
            board.wait_until(
                "all steps are read",
                lambda: board.runs().get(RUN, {}).get("steps") == given.steps,
            )
            began = time.perf_counter()
            board.slowdown("report", run=RUN)
            print(f"{given.steps:,} steps; first analysis {time.perf_counter() - began:.2f} s\n")
            for line in rows(board, given.steps, given.clients, given.rounds):
                print(line, flush=True)


if __name__ == "__main__":
    main()
