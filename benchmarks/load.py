"""Whether the server's memory stays where it is: a live run, two clients, thousands of reloads.

    python benchmarks/load.py --bounded                        # memory, 10,000 reloads
    python benchmarks/load.py --plain                          # the same of TensorBoard alone
    python benchmarks/load.py --steps 1000000 --reloads 200    # live updates of a long run

One process holds TensorBoard's Python loader and the plugin's routes. Before each reload a
chunk of 256 steps is appended to a live run; after it two clients ask for what the page asks
for. Prints the memory of the process (RSS), how much of it the C library's allocator has given
out and how much it keeps in pieces, Python's objects in use, and the CPU time of a live
update: the list of runs, the new record read and joined, and the account carried on; not the
analyses, which are made aside in at most 5 % of a core, and not what the clients ask for.

With --bounded the run is kept in at most 100,000 rows, so that its end of growth is seen
within minutes: by itself that comes after 2,000,000 steps. A part of the growth is
TensorBoard's, which keeps each record. With --plain nothing is asked of the plugin: what
grows then is TensorBoard's alone.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import itertools
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

import event_files  # noqa: E402
from tensorboard_loader import TensorBoard, append, serve  # noqa: E402
from werkzeug.test import Client  # noqa: E402

from benchmarks import long_run  # noqa: E402
from tb_slowdown_plugin.analysis.live.follow import follow  # noqa: E402
from tb_slowdown_plugin.reader.build.run_builder import Bounds  # noqa: E402
from tb_slowdown_plugin.reader.run_store import RunStore  # noqa: E402
from tb_slowdown_plugin.records.types import Chunk  # noqa: E402
from tb_slowdown_plugin.server.plugin import SlowdownPlugin  # noqa: E402
from tb_slowdown_plugin.server.runs import Runs  # noqa: E402

RUN = "live"
BASE = "/data/plugin/slowdown"
PATTERN_CHUNKS = 2_000
CLIENTS = 2
BOUNDED = Bounds(rows=100_000, samples=10_000, events=5_000)
SHOWN = 10
"""Lines of the result."""


def endless(pattern: list[Chunk]) -> Iterator[Chunk]:
    """The pattern again and again, as one session that goes on."""
    span = float(pattern[-1].steps.ended[-1]) - pattern[0].started
    rows = pattern[-1].first_row + len(pattern[-1].steps)
    for turn in itertools.count():
        for chunk in pattern:
            yield replace(
                chunk,
                sequence=chunk.sequence + turn * len(pattern),
                started=chunk.started + turn * span,
                first_row=chunk.first_row + turn * rows,
                steps=replace(
                    chunk.steps,
                    number=chunk.steps.number + turn * rows,
                    ended=chunk.steps.ended + turn * span,
                ),
                signals=replace(
                    chunk.signals,
                    time=chunk.signals.time + turn * span,
                    row=chunk.signals.row + turn * rows,
                ),
                events=tuple(
                    replace(event, row=event.row + turn * rows, time=event.time + turn * span)
                    for event in chunk.events
                ),
            )


def rss_megabytes() -> float:
    """Memory of this process that is not swapped out."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class _Allocator(ctypes.Structure):
    """`struct mallinfo2` of glibc 2.33 and newer."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd",
            "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def allocated_megabytes() -> str:
    """What the C library's allocator has given out, and what it keeps for later."""
    try:
        ask = ctypes.CDLL(None).mallinfo2
    except AttributeError:
        return "not known |"
    ask.restype = _Allocator
    found = ask()
    return f"{(found.uordblks + found.hblkhd) / 1e6:.0f} | {found.fordblks / 1e6:.0f}"


class Now:
    """The clock of the server: a moment after the last step of the run."""

    def __init__(self) -> None:
        self.last = event_files.STARTED

    def __call__(self) -> float:
        """Unix seconds."""
        return self.last + 1.0 + time.monotonic() % 1.0


def ask(client: Client, path: str) -> Any:
    """What a route says, which must not fail."""
    response = client.get(f"{BASE}/{path}", headers={"Accept-Encoding": "gzip"})
    if response.status_code != 200:
        raise SystemExit(f"{path}: {response.status_code} {response.get_data()[:200]!r}")
    size = len(response.get_data())
    response.close()
    return size


def visit(app: Any, turn: int, steps: int) -> None:
    """What one page asks for after a reload, and one zoom."""
    client = Client(app)
    first = turn * 7919 % max(1, steps - 1000)
    for path in (
        "runs", f"report?run={RUN}", f"timeline?run={RUN}", f"retraces?run={RUN}",
        f"timeline?run={RUN}&first={first}&last={first + 999}",
        f"changed?run={RUN}&first={first + 500}&last={first + 599}",
    ):  # fmt: skip
        ask(client, path)


def main() -> None:
    """Let a run grow, and see what the server keeps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--reloads", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=100_000, help="when TensorBoard starts")
    parser.add_argument("--bounded", action="store_true")
    parser.add_argument("--plain", action="store_true")
    given = parser.parse_args()
    pattern = list(long_run.chunks(PATTERN_CHUNKS * long_run.CHUNK_ROWS))
    chunks, now, updates = endless(pattern), Now(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written = list(itertools.islice(chunks, -(-given.steps // long_run.CHUNK_ROWS)))
        path = event_files.write_chunks(folder / RUN / "slowdown", written)
        now.last = float(written[-1].steps.ended[-1])
        board = TensorBoard(folder)
        catalogue = board.catalogue
        if given.bounded:
            catalogue = RunStore(board.provider, str(folder), bounds=BOUNDED)
        runs = Runs(catalogue, follow, logdir=str(folder), clock=now)
        app = serve(SlowdownPlugin(runs))
        steps = len(written) * long_run.CHUNK_ROWS
        print(
            "| reloads | steps | rows kept | RSS, MB | given out, MB | kept in pieces, MB | "
            "objects | on disk, MB | update, ms | max |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|", flush=True)
        for reload in range(given.reloads + 1):
            if reload % max(1, given.reloads // SHOWN) == 0:
                gc.collect()
                rows = 0 if given.plain else len(catalogue.run(RUN).steps)
                update = (
                    f"{statistics.median(updates):.1f} | {max(updates):.1f}" if updates else " |"
                )
                print(
                    f"| {reload:,} | {steps:,} | {rows:,} | {rss_megabytes():.0f} | "
                    f"{allocated_megabytes()} | {sys.getallocatedblocks():,} | "
                    f"{path.stat().st_size / 1e6:.1f} | {update} |",
                    flush=True,
                )
                updates.clear()
            chunk = next(chunks)
            append(path, [event_files.chunk_event(chunk)])
            steps += len(chunk.steps)
            now.last = float(chunk.steps.ended[-1])
            board.reload()
            if given.plain:
                continue
            board.provider.read_tags.clear()
            began = time.thread_time()
            runs.analysis(RUN)
            updates.append(1000 * (time.thread_time() - began))
            clients = [
                threading.Thread(target=visit, args=(app, CLIENTS * reload + number, steps))
                for number in range(CLIENTS)
            ]
            for client in clients:
                client.start()
            for client in clients:
                client.join()


if __name__ == "__main__":
    main()
