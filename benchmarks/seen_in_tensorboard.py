"""From the start of TensorBoard to the verdict, beside as many points in a scalar chart."""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS)]

import event_files  # noqa: E402
from integration.tensorboard_process import TensorBoardProcess  # noqa: E402

from benchmarks import long_run  # noqa: E402
from benchmarks.row import Row  # noqa: E402

_POINTS: Final = 200_000
_TIMES: Final = 3


def measure() -> list[Row]:
    """Starts TensorBoard with the one and with the other in turn."""
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        records, scalars = Path(folder) / "ours", Path(folder) / "theirs"
        long_run.write(records / "run/slowdown", _POINTS)
        events = (event_files.scalar_event("loss", n, 1 / (n + 1)) for n in range(_POINTS))
        event_files.write_events(scalars / "run", events)
        sizes = [sum(p.stat().st_size for p in f.rglob("*tfevents*")) for f in (records, scalars)]
        for _ in range(_TIMES):
            ours.append(_seconds_to_verdict(records, Path(folder)))
            theirs.append(_seconds_to_chart(scalars, Path(folder)))
    mine, other = statistics.median(ours), statistics.median(theirs)
    return [
        Row(
            f"start of TensorBoard to the verdict on {_POINTS:,} steps",
            f"{mine:.1f} s, {sizes[0] / 1e6:.1f} MB of files",
            f"to the last of as many points of a scalar {other:.1f} s, {sizes[1] / 1e6:.1f} MB",
        )
    ]


def _seconds_to_verdict(logdir: Path, folder: Path) -> float:
    began = time.monotonic()
    with TensorBoardProcess(["--logdir", str(logdir)], folder, has_tensorflow=True) as board:
        board.wait_until("all is read", lambda: board.runs().get("run", {}).get("steps") == _POINTS)
        (report,) = board.slowdown("report", run="run").json["runs"]
        assert report["steps"] == _POINTS
        return time.monotonic() - began


def _seconds_to_chart(logdir: Path, folder: Path) -> float:
    def last() -> float:
        points = board.scalar("run", "loss")
        return points[-1][1] if points else -1.0

    began = time.monotonic()
    with TensorBoardProcess(["--logdir", str(logdir)], folder, has_tensorflow=True) as board:
        board.wait_until("all is read", lambda: last() == _POINTS - 1)
        return time.monotonic() - began
