"""What the tab's first look at a long run takes: to read and analyze its first part, then all.

    python benchmarks/first_look.py                      # 10,000,000 steps: 2 minutes
    python benchmarks/first_look.py --rows 1000          # in records of 1,000 steps

Prints the CPU time of each part, in a process with TensorBoard's Python loader. The loading of the
event files before it is TensorBoard's alone.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
import time
from pathlib import Path

TESTS = Path(__file__).parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from tensorboard_loader import TensorBoard  # noqa: E402

from benchmarks import long_run  # noqa: E402
from tb_slowdown_plugin.analysis.live.follow import follow  # noqa: E402


def main() -> None:
    """Write a run, and look at it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=10_000_000)
    parser.add_argument("--rows", type=int, default=long_run.CHUNK_ROWS, help="steps of a record")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as logdir:
        folder = Path(logdir) / "run/slowdown"
        long_run.write(folder, given.steps, chunk_rows=given.rows)
        clocks = [time.process_time()]
        board = TensorBoard(logdir)
        clocks.append(time.process_time())
        part = board.catalogue.first_part("run")
        clocks.append(time.process_time())
        if part is not None:
            follow(part, None)
        clocks.append(time.process_time())
        run = board.catalogue.run("run")
        clocks.append(time.process_time())
        follow(run, None)
        clocks.append(time.process_time())
    took = [after - before for before, after in itertools.pairwise(clocks)]
    loaded, first_read, first_analyzed, read, analyzed = took
    print(f"{given.steps:,} steps in records of {given.rows}, seconds of CPU:")
    print(f"loaded by TensorBoard {loaded:.1f}")
    if part is not None:
        print(
            f"first part ({len(part.steps):,} steps, {part.read_fraction:.0%} of the records): "
            f"read {first_read:.1f}, analyzed {first_analyzed:.1f}"
        )
    print(f"all: read {first_read + read:.1f}, analyzed {analyzed:.1f}")


if __name__ == "__main__":
    main()
