"""A live run, two clients and hundreds of reloads: what the plugin holds does not grow."""

from __future__ import annotations

import gc
import itertools
import threading
import tracemalloc
from pathlib import Path

import event_files
import pytest
from tensorboard_loader import TensorBoard, append, serve
from werkzeug.test import Client

import tb_slowdown_plugin
from tb_slowdown_plugin.analysis.live.follow import follow
from tb_slowdown_plugin.reader.build.run_builder import Bounds
from tb_slowdown_plugin.reader.run_store import RunStore
from tb_slowdown_plugin.records.types import Event, GcPause
from tb_slowdown_plugin.server.plugin import SlowdownPlugin
from tb_slowdown_plugin.server.runs import Runs

CHUNK_ROWS = 64
RELOADS = 120
WINDOW = 40
"""Reloads between two looks at the memory."""
BOUNDS = Bounds(rows=800, samples=200, events=100)
MOST_MORE = 60_000
"""Bytes by which two looks may differ: rows are doubled now and then. If the columns or the
answers of each reload stayed, it would be ten times as much."""

BASE = "/data/plugin/slowdown"


class Now:
    def __init__(self) -> None:
        self.now = event_files.STARTED

    def __call__(self) -> float:
        return self.now


def held_bytes() -> int:
    """Bytes that the plugin's own code has allocated and that are still in use."""
    gc.collect()
    package = str(Path(tb_slowdown_plugin.__file__).parent / "*")
    snapshot = tracemalloc.take_snapshot().filter_traces([tracemalloc.Filter(True, package)])
    return sum(trace.size for trace in snapshot.traces)


@pytest.mark.slow
def test_a_run_without_end_and_two_clients_take_no_more_memory(tmp_path: Path) -> None:
    total = (RELOADS + 20) * CHUNK_ROWS
    steps = event_files.make_steps(total, seed=1, accounts={"gc": 0.0})
    events = [
        Event(row, float(steps.ended[row]), GcPause(2, 0.01, 1)) for row in range(0, total, 9)
    ]
    chunks = iter(event_files.split(steps, chunk_rows=CHUNK_ROWS, events=events))
    path = event_files.write_chunks(tmp_path / "run1" / "slowdown", itertools.islice(chunks, 20))
    board, now = TensorBoard(tmp_path), Now()
    catalogue = RunStore(board.provider, str(tmp_path), bounds=BOUNDS)
    runs = Runs(catalogue, follow, clock=now)
    app = serve(SlowdownPlugin(runs))
    failed: list[str] = []

    def visit(reload: int) -> None:
        client = Client(app)
        for route in (
            "runs", "report?run=run1", "timeline?run=run1", "retraces?run=run1",
            f"changed?run=run1&first={300 + reload % 9}&last=399",
        ):  # fmt: skip
            response = client.get(f"{BASE}/{route}")
            if response.status_code != 200:
                failed.append(f"{route}: {response.get_data()!r}")
            response.close()

    held: list[int] = []
    rows: set[int] = set()
    tracemalloc.start()
    try:
        for reload in range(RELOADS):
            chunk = next(chunks)
            append(path, [event_files.chunk_event(chunk)])
            now.now = float(chunk.steps.ended[-1])
            board.reload()
            board.provider.read_tags.clear()
            clients = [threading.Thread(target=visit, args=(reload,)) for _ in range(2)]
            for client in clients:
                client.start()
            for client in clients:
                client.join()
            rows.add(len(catalogue.run("run1").steps))
            if reload % WINDOW == WINDOW - 1:
                held.append(held_bytes())
    finally:
        tracemalloc.stop()
    assert failed == []
    assert catalogue.run("run1").steps_per_row == 16
    assert max(rows) <= BOUNDS.rows
    (note, dropped) = catalogue.run("run1").notes
    assert "each step shown is 16 of its steps" in note
    assert "events in the middle of the run" in dropped
    assert held[-1] - held[0] <= MOST_MORE, held
    (report,) = Client(app).get(f"{BASE}/report?run=run1").json["runs"]  # type: ignore[index]
    assert report["steps"] == total // 16 * 16
