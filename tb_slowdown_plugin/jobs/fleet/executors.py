"""Where runs are judged: processes of this machine, or the workers of a Dask scheduler."""

from __future__ import annotations

import contextlib
import logging
import multiprocessing
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from typing import Any, Final, Protocol

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.fleet.worker_limits import limit_worker

_BACK_SECONDS: Final = 300.0
"""How long a scheduler that went away is waited for."""
_CONNECT_SECONDS: Final = 10.0


class Pool(Protocol):
    """Makes executors, one after the other: one that breaks is replaced."""

    def open(self) -> Executor:
        """A new executor."""

    def is_alive(self) -> bool:
        """Whether what was submitted to the newest executor can still be done."""

    def slots(self) -> int:
        """Tasks that are done at once."""

    def close(self) -> None:
        """Ends the newest executor, without waiting for what it does."""


class ProcessPool:
    """Processes of this machine.

    Args:
      workers: How many; None for one a core.
      memory_bytes: Bound of each.
    """

    def __init__(self, workers: int | None, memory_bytes: int) -> None:
        self._workers = workers or len(os.sched_getaffinity(0))
        self._memory_bytes = memory_bytes
        self._executor: ProcessPoolExecutor | None = None

    def open(self) -> Executor:
        """New processes, which have not imported anything of this one."""
        self.close()
        self._executor = ProcessPoolExecutor(
            self._workers,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=limit_worker,
            initargs=(self._memory_bytes,),
        )
        return self._executor

    def is_alive(self) -> bool:
        """Always: a broken pool says so in each future."""
        return True

    def slots(self) -> int:
        """The number of processes."""
        return self._workers

    def close(self) -> None:
        """Ends the processes after what each is at."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            self._executor = None


class DaskPool:
    """The workers of a Dask scheduler, which must have tbslow and see the same logdirs.

    Args:
      address: Of the scheduler, such as "tcp://host:8786".
      distributed: The module.
      tell: Gets a sentence when the scheduler goes away, and when it is back.
    """

    def __init__(self, address: str, distributed: Any, tell: Callable[[str], None]) -> None:
        self._address = address
        self._distributed = distributed
        self._tell = tell
        self._client: Any = None
        self._id = ""
        self._has_workers = True
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # it is told in one line

    def open(self) -> Executor:
        """Connects; after the first time it waits for a scheduler that is away.

        Raises:
          InputError: There is none.
        """
        was_there = self._client is not None
        self.close()
        if was_there:
            self._tell(f"the scheduler at {self._address} is away; waiting for it")
        end = time.monotonic() + (_BACK_SECONDS if was_there else 0.0)
        while True:
            try:
                self._client = self._distributed.Client(
                    self._address, timeout=_CONNECT_SECONDS, set_as_default=False
                )
                self._id = self._scheduler_id()
                break
            except (OSError, TimeoutError, ValueError) as error:
                if time.monotonic() > end:
                    raise InputError(
                        f"no Dask scheduler at '{self._address}': {error}; "
                        "start one with: dask scheduler"
                    ) from error
        executor: Executor = self._client.get_executor()
        return executor

    def is_alive(self) -> bool:
        """Whether the scheduler is the one that was connected to; a new one knows no tasks."""
        if self._client.status != "running" or self._scheduler_id() != self._id:
            return False
        with contextlib.suppress(OSError, TimeoutError):
            has_workers = bool(self._client.nthreads())
            if self._has_workers and not has_workers:
                self._tell(f"the scheduler at {self._address} has no workers; waiting for one")
            self._has_workers = has_workers
        return True

    def slots(self) -> int:
        """Threads of all workers that there are now."""
        with contextlib.suppress(OSError, TimeoutError):
            threads: dict[str, int] = self._client.nthreads()
            return max(1, sum(threads.values()))
        return 1

    def close(self) -> None:
        """Disconnects; the scheduler forgets what it has not begun."""
        if self._client is not None:
            with contextlib.suppress(OSError, TimeoutError):
                self._client.close(timeout=2)

    def _scheduler_id(self) -> str:
        with contextlib.suppress(OSError, TimeoutError):
            return str(self._client.sync(self._client.scheduler.identity).get("id", ""))
        return ""
