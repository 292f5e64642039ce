"""Real processes: bounded memory, and one that is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

import numpy as np

from tb_slowdown_plugin.jobs.fleet.dispatch import judge_all
from tb_slowdown_plugin.jobs.fleet.executors import ProcessPool
from tb_slowdown_plugin.reader.object_store import StoredFile
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet.columns import Rows


def behave(batch: Sequence[StoredRun], memory_bytes: int) -> list[Rows]:
    """Does what a run's name says."""
    rows = []
    for run in batch:
        told = run.name
        if run.name == "killer":
            os.kill(os.getpid(), signal.SIGKILL)
        if run.name == "greedy":
            try:
                told = f"{np.ones(memory_bytes, np.uint8)[0]}"
            except MemoryError:
                told = "refused"
        if run.name == "threads":
            told = os.environ["OPENBLAS_NUM_THREADS"]
        rows.append(Rows([{"run": run.name, "status": told}], []))
    return rows


def test_processes_are_bounded_and_one_that_is_killed_takes_nothing_with_it() -> None:
    names = ["a", "b", "c", "greedy", "killer", "threads", *(f"run{number}" for number in range(9))]
    runs = [StoredRun("logs", name, (StoredFile(name, 1, 0.0, ""),)) for name in names]
    limit = 512 << 20
    judged = judge_all(runs, ProcessPool(2, limit), limit, behave)
    found = [row for rows in judged for row in rows.runs]
    assert sorted(row["run"] for row in found) == sorted(names)
    status = {row["run"]: row["status"] for row in found}
    assert status["greedy"] == "refused"
    assert status["killer"] == "unreadable"
    assert status["threads"] == "1"
    assert status["run3"] == "run3"
    assert "OPENBLAS_NUM_THREADS" not in os.environ or os.environ["OPENBLAS_NUM_THREADS"] != ""
