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
import contextlib
import http.client
import os
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

import numpy as np

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from integration.tensorboard_process import LOADERS, TensorBoardProcess  # noqa: E402

from benchmarks import long_run  # noqa: E402
from benchmarks.row import Row, unless_busy  # noqa: E402

RUN = "long"
STEPS: Final = 1_000_000
CLIENTS: Final = 20
ROUNDS: Final = 20
MOST_MILLISECONDS: Final = 50.0
"""Median of one client on a loaded run of 1,000,000 steps."""
PACKED = {"Accept-Encoding": "gzip"}

Question = Callable[[], str]
"""Makes the path and query of the next request."""


class Answered(NamedTuple):
    """How long a question took; times in milliseconds."""

    question: str
    cpu: float
    alone: tuple[float, float]
    """Median and 95th percentile of one client."""
    together: tuple[float, float]
    """Of all clients at once."""
    size: int
    """Bytes."""


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
        # Ranges that differ by less than a hundredth: the server gives them the same answers.
        first = place.randrange(steps // 100)
        return f"timeline?{urlencode({'run': RUN, 'first': first})}"

    return {
        "runs": lambda: "runs",
        "report, same": fixed("report"),
        "timeline of all steps, same": fixed("timeline"),
        "timeline of all steps, new": whole,
        "timeline of half the run, new": ranges("timeline", steps // 2),
        "timeline of 2,000 steps, new": ranges("timeline", 2_000),
        "changed, 1,000 steps, new": ranges("changed", 1_000),
        "changed, 100,000 steps, new": ranges("changed", 100_000),
        "changed, a fifth of the run, same": fixed(
            "changed", first=steps * 3 // 5, last=steps * 4 // 5
        ),
        "retraces, same": fixed("retraces"),
        "captures": fixed("captures"),
    }


def measure_one(
    port: int, steps: int, name: str, clients: int, rounds: int
) -> tuple[list[float], int]:
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


def answers(board: TensorBoardProcess, steps: int, clients: int, rounds: int) -> Iterator[Answered]:
    """Asks each question, first alone and then with all clients at once."""
    for name in questions(steps, 0):
        before = cpu_milliseconds(board.pid)
        taken, size = measure_one(board.port, steps, name, 1, rounds)
        cpu = (cpu_milliseconds(board.pid) - before) / rounds
        crowd, _ = measure_one(board.port, steps, name, clients, rounds)
        alone, together = np.percentile(taken, [50, 95]), np.percentile(crowd, [50, 95])
        yield Answered(name, cpu, (alone[0], alone[1]), (together[0], together[1]), size)


@contextlib.contextmanager
def served(steps: int, loader: str) -> Iterator[TensorBoardProcess]:
    """A TensorBoard that has read a run of so many steps."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        long_run.write(folder / "logs" / RUN / "slowdown", steps)
        arguments = ["--logdir", str(folder / "logs"), *LOADERS[loader]]
        with TensorBoardProcess(arguments, folder, has_tensorflow=True) as board:
            board.wait_until(
                "all steps are read", lambda: board.runs().get(RUN, {}).get("steps") == steps
            )
            yield board


def measure() -> list[Row]:
    """Each question of one client and of twenty, as rows of the table of all benchmarks."""
    rows = []
    with served(STEPS, "rust") as board:
        board.slowdown("report", run=RUN)
        for found in answers(board, STEPS, CLIENTS, ROUNDS // 2):
            median, high = found.alone
            rows.append(
                Row(
                    f"route of {STEPS:,} steps: {found.question}",
                    f"{median:.1f} ms, 95th percentile {high:.1f} ms ({found.cpu:.1f} ms of CPU)",
                    f"{CLIENTS} clients at once {found.together[0]:.0f} ms, "
                    f"95th percentile {found.together[1]:.0f} ms",
                    f"at most {MOST_MILLISECONDS:.0f} ms, of one client",
                    unless_busy(median <= MOST_MILLISECONDS),
                )
            )
    return rows


def main() -> None:
    """Write the run, serve it, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--loader", choices=list(LOADERS), default="rust")
    given = parser.parse_args()
    with served(given.steps, given.loader) as board:
        began = time.perf_counter()
        board.slowdown("report", run=RUN)
        print(f"{given.steps:,} steps; first analysis {time.perf_counter() - began:.2f} s\n")
        print(f"| route | CPU, ms | 1 client, p50 / p95 ms | {given.clients} clients | KB |")
        print("|---|---|---|---|---|")
        for found in answers(board, given.steps, given.clients, given.rounds):
            print(
                f"| {found.question} | {found.cpu:.1f} | "
                f"{found.alone[0]:.1f} / {found.alone[1]:.1f} | "
                f"{found.together[0]:.1f} / {found.together[1]:.1f} | {found.size / 1000:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
