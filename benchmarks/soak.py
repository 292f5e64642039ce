"""Whether the monitor's memory stays where it is: five million monitored steps in one process.

    python benchmarks/soak.py [--steps 5000000]

The steps are empty but for a phase, a batch of `tbslow.data` and, every thousandth, an operation
of TensorFlow, with all default collectors on and the records written to disk. Prints, ten times
in the run, what the process holds: memory (RSS), Python objects, steps that wait to be written,
and bytes on disk. It exits with 1 where memory or objects have grown between the second tenth
and the end by more than the bounds below, or a step can't be read back.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf

import tbslow
from tb_slowdown_plugin.reader.logdir import read_runs

PARTS: Final = 10
MOST_GROWTH_BYTES: Final = 32_000_000
MOST_GROWTH_OBJECTS: Final = 2_000
"""The queue of steps to be written is longer at one moment than at another."""
_EPOCH_STEPS: Final = 20_000
"""After each, the records are written: a step every 20 us is more than the background thread
can keep up with, which then says how many steps it has not kept."""
_OPERATION_EVERY: Final = 1_000


class Held(NamedTuple):
    """What the process holds at one moment."""

    steps: int
    seconds: float
    rss_bytes: int
    objects: int
    pending: int
    written_bytes: int


def train(steps: int) -> None:
    """One epoch of almost nothing."""
    one = tf.constant(1.0)
    for number in tbslow.data(range(steps)):
        with tbslow.summary.step(items=8), tbslow.summary.phase("forward"):
            if number % _OPERATION_EVERY == 0:
                one * one


def soak(steps: int, logdir: Path, tell: Callable[[Held], None]) -> list[Held]:
    """Trains so many steps under a monitor; what was held after each tenth of them."""
    held = []
    began = time.monotonic()
    with tbslow.start(logdir) as monitor:
        for part in range(1, PARTS + 1):
            for done in range(0, steps // PARTS, _EPOCH_STEPS):
                train(min(_EPOCH_STEPS, steps // PARTS - done))
                monitor.flush()
            gc.collect()
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            held.append(
                Held(
                    steps // PARTS * part,
                    time.monotonic() - began,
                    pages * os.sysconf("SC_PAGE_SIZE"),
                    len(gc.get_objects()),
                    len(monitor.recorder.entries),
                    sum(path.stat().st_size for path in logdir.rglob("*tfevents*")),
                )
            )
            tell(held[-1])
    return held


def growth(held: list[Held]) -> tuple[int, int]:
    """Bytes and objects by which the end is above the second tenth."""
    return held[-1].rss_bytes - held[1].rss_bytes, held[-1].objects - held[1].objects


def main() -> int:
    """Prints the table; 1 where memory has grown."""
    arguments = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_argument("--steps", type=int, default=5_000_000)
    steps = arguments.parse_args().steps
    print(f"TensorFlow {tf.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} cores")
    print("| steps | seconds | RSS, MB | Python objects | steps to be written | MB on disk |")
    print("|---|---|---|---|---|---|")

    def tell(held: Held) -> None:
        print(
            f"| {held.steps:,} | {held.seconds:.0f} | {held.rss_bytes / 1e6:.1f} | "
            f"{held.objects:,} | {held.pending} | {held.written_bytes / 1e6:.1f} |",
            flush=True,
        )

    with tempfile.TemporaryDirectory() as logdir:
        grown_bytes, grown_objects = growth(soak(steps, Path(logdir), tell))
        (run,) = read_runs(logdir, warn=print)
    print(f"\n{len(run.steps):,} steps read back, {run.sessions[0].missing_chunks} records missing")
    print(f"grown by {grown_bytes / 1e6:.1f} MB and {grown_objects:,} objects after the second")
    whole = len(run.steps) == steps and not run.sessions[0].missing_chunks
    kept = whole and grown_bytes <= MOST_GROWTH_BYTES and grown_objects <= MOST_GROWTH_OBJECTS
    most = f"at most {MOST_GROWTH_BYTES / 1e6:.0f} MB and {MOST_GROWTH_OBJECTS:,} objects"
    print("kept" if kept else "NOT KEPT", f"({most})")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
