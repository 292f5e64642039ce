"""Each run comes back once, whatever breaks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any

import pytest
from thread_pool import ThreadPool

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.dispatch import batches, judge_all
from tb_slowdown_plugin.reader.object_store import StoredFile
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet.columns import Rows


def stored(name: str, size: int = 1) -> StoredRun:
    return StoredRun("logs", name, (StoredFile(f"{name}/events", size, 0.0, "1"),))


RUNS = [stored(f"run{number:02}") for number in range(40)]


def rows_of(batch: Sequence[StoredRun], memory_bytes: int) -> list[Rows]:
    return [Rows([{"run": run.name, "bytes": memory_bytes}], []) for run in batch]


def names(judged: Any) -> Counter[str]:
    return Counter(row["run"] for rows in judged for row in rows.runs)


class Fragile(Executor):
    """Calls at once; `breaks` says which call ends it, and how."""

    def __init__(self, breaks: Callable[[Sequence[StoredRun]], BaseException | None]) -> None:
        self._breaks = breaks
        self._error: BaseException | None = None

    def submit(self, judge: Any, /, batch: Any, memory_bytes: Any) -> Future[Any]:
        if self._error is not None:
            raise self._error
        future: Future[Any] = Future()
        self._error = self._breaks(batch)
        if self._error is None:
            future.set_result(judge(batch, memory_bytes))
        else:
            future.set_exception(self._error)
        return future


class FragilePool:
    def __init__(self, breaks: Callable[[Sequence[StoredRun]], BaseException | None]) -> None:
        self._breaks = breaks
        self.opened = self.closed = 0

    def open(self) -> Executor:
        self.opened += 1
        return Fragile(self._breaks)

    def is_alive(self) -> bool:
        return True

    def slots(self) -> int:
        return 2

    def close(self) -> None:
        self.closed += 1


def test_large_runs_come_first_and_small_ones_together() -> None:
    runs = [stored("small"), stored("large", 5 << 20), stored("middle", 3 << 20), *RUNS[:8]]
    found = [[run.name for run in batch] for batch in batches(runs)]
    assert found[0] == ["large"]
    assert found[1] == ["middle", *(run.name for run in RUNS[:7])]
    assert found[2] == ["run07", "small"]


def test_each_run_once_on_threads() -> None:
    judged = list(judge_all(RUNS, ThreadPool(3), 77, rows_of))
    assert names(judged) == Counter(run.name for run in RUNS)
    assert {row["bytes"] for rows in judged for row in rows.runs} == {77}


def test_no_executor_is_made_for_nothing() -> None:
    pool = FragilePool(lambda batch: None)
    assert list(judge_all([], pool, 1, rows_of)) == []
    assert pool.opened == 0


def test_a_worker_that_ends_once_loses_nothing() -> None:
    ends = iter([None, BrokenExecutor("killed")])
    pool = FragilePool(lambda batch: next(ends, None))
    assert names(judge_all(RUNS, pool, 1, rows_of)) == Counter(run.name for run in RUNS)
    assert pool.opened == 2
    assert pool.closed >= 1


def test_the_run_that_ends_its_worker_is_found_and_only_that_one() -> None:
    def breaks(batch: Sequence[StoredRun]) -> BaseException | None:
        has_it = any(run.name == "run13" for run in batch)
        return BrokenExecutor("out of memory") if has_it else None

    judged = [row for rows in judge_all(RUNS, FragilePool(breaks), 1, rows_of) for row in rows.runs]
    assert Counter(row["run"] for row in judged) == Counter(run.name for run in RUNS)
    (bad,) = [row for row in judged if row.get("status") == "unreadable"]
    assert bad["run"] == "run13"
    assert bad["reason"] == "the worker that read it ended 2 times: out of memory"


def test_a_lost_connection_is_no_fault_of_a_run() -> None:
    losses = iter([None, ConnectionResetError("gone"), None, ConnectionResetError("gone")] * 4)
    pool = FragilePool(lambda batch: next(losses, None))
    assert names(judge_all(RUNS, pool, 1, rows_of)) == Counter(run.name for run in RUNS)


def test_executors_that_only_break_end_it_with_the_reason() -> None:
    pool = FragilePool(lambda batch: ConnectionResetError("no route"))
    with pytest.raises(InputError, match="no run was judged in 11 attempts: no route"):
        list(judge_all(RUNS, pool, 1, rows_of))


def test_a_worker_without_tbslow_is_named() -> None:
    error = ModuleNotFoundError("No module named 'tb_slowdown_plugin'")
    with pytest.raises(InputError, match="a worker can't judge runs: No module named"):
        list(judge_all(RUNS, FragilePool(lambda batch: error), 1, rows_of))
