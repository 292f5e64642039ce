"""Real processes: bounded memory, and one that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.dispatch import judge_all
from tb_slowdown_plugin.jobs.fleet.executors import DaskPool, ProcessPool
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
            told = os.environ.get("OPENBLAS_NUM_THREADS", "")
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


def test_the_limits_come_before_numpy() -> None:
    code = (
        "import sys; from tb_slowdown_plugin.jobs.fleet import worker_limits; "
        "print('numpy' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class Scheduler:
    """What the client of a Dask scheduler says of it."""

    def __init__(self) -> None:
        self.id = "Scheduler-1"
        self.status = "running"
        self.threads: dict[str, int] = {"tcp://worker": 4}
        self.refusals = 0
        self.scheduler = self

    def Client(self, address: str, **_: object) -> Scheduler:
        if self.refusals:
            self.refusals -= 1
            raise OSError("refused")
        return self

    def identity(self) -> dict[str, str]:
        return {"id": self.id}

    def sync(self, call: Callable[[], dict[str, str]]) -> dict[str, str]:
        return call()

    def nthreads(self) -> dict[str, int]:
        return self.threads

    def get_executor(self) -> str:
        return "executor"

    def close(self, timeout: float) -> None:
        """Nothing to close."""


def test_a_scheduler_that_is_another_one_has_lost_the_tasks() -> None:
    told: list[str] = []
    scheduler = Scheduler()
    pool = DaskPool("tcp://there", scheduler, told.append)
    assert (pool.open(), pool.slots(), pool.is_alive()) == ("executor", 4, True)
    scheduler.id = "Scheduler-2"
    assert not pool.is_alive()
    scheduler.refusals = 2
    assert pool.open() == "executor"
    assert pool.is_alive()
    assert told == ["the scheduler at tcp://there is away; waiting for it"]


def test_a_scheduler_without_workers_is_told_once() -> None:
    told: list[str] = []
    scheduler = Scheduler()
    pool = DaskPool("tcp://there", scheduler, told.append)
    pool.open()
    scheduler.threads = {}
    assert [pool.is_alive(), pool.is_alive(), pool.slots()] == [True, True, 1]
    assert told == ["the scheduler at tcp://there has no workers; waiting for one"]


def test_no_scheduler_at_all() -> None:
    scheduler = Scheduler()
    scheduler.refusals = 1
    with pytest.raises(InputError, match="no Dask scheduler at 'tcp://there': refused; start one"):
        DaskPool("tcp://there", scheduler, pytest.fail).open()
