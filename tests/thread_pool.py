"""A pool of threads where the command has one of processes: what it runs can be watched."""

from __future__ import annotations

from concurrent.futures import Executor, ThreadPoolExecutor


class ThreadPool:
    """As `ProcessPool`, in threads of this process."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._executor: ThreadPoolExecutor | None = None

    def open(self) -> Executor:
        """New threads."""
        self.close()
        self._executor = ThreadPoolExecutor(self._workers)
        return self._executor

    def is_alive(self) -> bool:
        """Always."""
        return True

    def slots(self) -> int:
        """The number of threads."""
        return self._workers

    def close(self) -> None:
        """Ends the threads after what each is at."""
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
