"""Hands runs to an executor, and sees to it that each comes back once, whatever breaks."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from dataclasses import dataclass
from typing import Final, TypeAlias

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.executors import Pool
from tb_slowdown_plugin.jobs.fleet.judging import judge_batch
from tb_slowdown_plugin.reader.stored_runs import StoredRun
from tb_slowdown_plugin.report.fleet.columns import Rows, unjudged_row

Judge: TypeAlias = Callable[[Sequence[StoredRun], int], "list[Rows]"]

_BATCH_RUNS: Final = 8
_BATCH_BYTES: Final = 4 << 20
_TASKS_PER_SLOT: Final = 4
_LOOK_SECONDS: Final = 2.0
"""How often an executor is asked whether it is still there."""
_SETTLE_SECONDS: Final = 1.0
_TIMES_ALONE: Final = 2
"""A run with which a worker ends so often, with nothing else at work, is the one that ends it."""
_MOST_BREAKS: Final = 10
"""Executors that break one after the other without one result."""


@dataclass(frozen=True, slots=True)
class _Task:
    """Some runs that are judged in one call."""

    runs: Sequence[StoredRun]
    ended: int = 0
    """How often a worker ended while this was all that was at work."""
    is_alone: bool = False
    """Nothing else may be at work: one of its runs may have ended a worker."""


def batches(runs: Iterable[StoredRun]) -> Iterator[list[StoredRun]]:
    """The largest runs first, small ones together: a task costs Dask a millisecond."""
    batch: list[StoredRun] = []
    size = 0
    for run in sorted(runs, key=lambda run: (-run.size, run.logdir, run.name)):
        if batch and (len(batch) == _BATCH_RUNS or size + run.size > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(run)
        size += run.size
    if batch:
        yield batch


def judge_all(
    runs: Iterable[StoredRun], pool: Pool, memory_bytes: int, judge: Judge = judge_batch
) -> Iterator[Rows]:
    """The rows of each run, as they come; each run once.

    What a worker or a scheduler took with it is done again. A run that ends its worker each
    time, with no other run at work, is a row with that reason.

    Raises:
      InputError: A worker does not have tbslow, or executors break again and again.
    """
    tasks = deque(_Task(batch) for batch in batches(runs))
    breaks = 0
    try:
        while tasks:
            round_ = _Round(pool, memory_bytes, judge, tasks)
            has_result = False
            for rows in round_.results():
                has_result = True
                yield rows
            breaks = 0 if has_result else breaks + 1
            if breaks > _MOST_BREAKS:
                raise InputError(f"no run was judged in {breaks} attempts: {round_.reason}")
            yield from round_.give_up()
    finally:
        pool.close()


class _Round:
    """The life of one executor: ends when all is done, or when something broke."""

    def __init__(self, pool: Pool, memory_bytes: int, judge: Judge, tasks: deque[_Task]) -> None:
        self._pool = pool
        self._memory_bytes = memory_bytes
        self._judge = judge
        self._tasks = tasks
        self._at_work: dict[Future[list[Rows]], _Task] = {}
        self._broken: list[tuple[_Task, BaseException]] = []
        self.reason = ""

    def results(self) -> Iterator[Rows]:
        """Rows until the round ends; what was not done is among the tasks again."""
        executor = self._pool.open()
        most = self._pool.slots() * _TASKS_PER_SLOT
        is_whole = True
        while is_whole and (self._tasks or self._at_work):
            is_whole = self._submit(executor, most)
            done, _ = wait(self._at_work, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            yield from self._take(done)
            if self._broken:  # others of the same executor fail in the same moment
                done, _ = wait(self._at_work, timeout=_SETTLE_SECONDS)
                yield from self._take(done)
            is_whole = is_whole and not self._broken and (bool(done) or self._pool.is_alive())
        self._tasks.extendleft(self._at_work.values())

    def _submit(self, executor: Executor, most: int) -> bool:
        while self._tasks and len(self._at_work) < most:
            task = self._tasks[0]
            if self._at_work and (task.is_alone or self._is_alone()):
                break
            try:
                future = executor.submit(self._judge, task.runs, self._memory_bytes)
            except Exception as error:  # noqa: BLE001 - broken, by whatever it raises
                self.reason = str(error) or type(error).__name__
                return False
            self._at_work[future] = self._tasks.popleft()
        return True

    def _is_alone(self) -> bool:
        return any(task.is_alone for task in self._at_work.values())

    def _take(self, done: Iterable[Future[list[Rows]]]) -> Iterator[Rows]:
        for future in done:
            task = self._at_work.pop(future)
            if future.cancelled():
                self._broken.append((task, CancelledError()))
                continue
            error = future.exception()
            if error is None:
                yield from future.result()
            else:
                self._broken.append((task, error))

    def give_up(self) -> Iterator[Rows]:
        """Puts what failed back among the tasks; rows of runs that are not tried again."""
        for task, error in self._broken:
            _refuse_worker_without_package(error)
            self.reason = str(error) or type(error).__name__
            if isinstance(error, CancelledError | OSError):  # it was the connection
                self._tasks.append(task)
            elif not task.is_alone:
                self._tasks.extend(_Task([run], is_alone=True) for run in task.runs)
            elif task.ended + 1 < _TIMES_ALONE:
                self._tasks.append(_Task(task.runs, task.ended + 1, is_alone=True))
            else:
                for run in task.runs:
                    reason = f"the worker that read it ended {_TIMES_ALONE} times: {self.reason}"
                    yield Rows([unjudged_row(run, "unreadable", reason)], [])


def _refuse_worker_without_package(error: BaseException) -> None:
    if isinstance(error, ModuleNotFoundError):
        raise InputError(
            f"a worker can't judge runs: {error}; install tb-slowdown-plugin[fleet] there, of "
            "the same version"
        ) from error
