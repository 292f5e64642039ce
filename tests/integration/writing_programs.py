"""Short programs that write files of their own, and their healthy twins: `NAME LOGDIR`."""

from __future__ import annotations

import gc
import os
import pickle
import sqlite3
from pathlib import Path

import numpy as np
from timed_training import EPOCH, STEPS, loop, ordinary, run_named, timed


def replay(count):
    return [np.full(50, number, np.float32) for number in range(count)]


def save_pickle(path, kept):
    with path.open("wb") as file, timed("write"):
        pickle.dump(kept, file)


def pickle_in_loop(logdir):
    kept, path = replay(100_000), Path(logdir, "replay.pkl")
    # Whether a full collection of all that was imported comes within these steps, which would be
    # another row, is chance.
    gc.collect()
    gc.freeze()

    def extra(number):
        if number % EPOCH == 0:
            save_pickle(path, kept)

    loop(logdir, extra)


def pickle_in_loop_healthy(logdir):
    """A file of a few rows."""
    kept, path = replay(20), Path(logdir, "replay.pkl")
    loop(logdir, lambda number: number % EPOCH or save_pickle(path, kept))


def synced_log(logdir, sync=os.fsync, megabytes=16):
    """A log whose every block must be on the disk before training goes on."""
    block = os.urandom(megabytes << 20)
    with Path(logdir, "log.bin").open("wb") as file:

        def extra(number):
            if number % EPOCH == 0:
                with timed("write"):
                    write(file, block, sync)

        loop(logdir, extra)


def write(file, block, sync):
    for _ in range(40):
        file.seek(0)
        file.write(block)
        file.flush()
        sync(file.fileno())


def synced_log_healthy(logdir):
    """A short log, which the disk gets whenever it has time."""
    synced_log(logdir, lambda descriptor: None, 0)


def committed_rows(logdir, each=1):
    """A database that has every row at once."""
    rows = sqlite3.connect(Path(logdir, "rows.db"))
    rows.execute("CREATE TABLE steps (number INTEGER, note TEXT)")

    def extra(number):
        with timed("write"):
            keep(rows, number, each)

    loop(logdir, extra, data=ordinary.dataset(4 * STEPS))  # its seconds are told by samples


def keep(rows, number, each):
    for row in range(6 * number, 6 * number + 6):
        rows.execute("INSERT INTO steps VALUES (?, ?)", (row, "x" * 2000))
        if row % each == 0:
            rows.commit()


def committed_rows_healthy(logdir):
    committed_rows(logdir, STEPS)


def pickle_and_collect(logdir):
    """Two defects: a file of the program's own, and `gc.collect` in the loop."""
    objects = [{} for _ in range(500_000)]
    kept, path = replay(100_000), Path(logdir, "replay.pkl")

    def extra(number):
        if number % 8 == 0:
            with timed("gc.collect"):
                gc.collect()
        if number % EPOCH == 20:
            save_pickle(path, kept)

    loop(logdir, extra)
    del objects


if __name__ == "__main__":
    run_named(globals())
