"""A real Dask scheduler and real workers, each a process of its own, which a test can kill."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path


class DaskCluster:
    """A scheduler and its workers.

    Args:
      folder: Where they write their logs and files.
      environment: Added to that of this process.
    """

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._folder = folder
        self._environment = {
            **os.environ,
            **environment,
            "DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "1h",
        }
        self._processes: list[subprocess.Popen[bytes]] = []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self._port}"
        self.scheduler = self._start_scheduler()

    def _start_scheduler(self) -> subprocess.Popen[bytes]:
        flags = ["--host", "127.0.0.1", "--port", str(self._port), "--no-dashboard", "--no-show"]
        return self._start("scheduler", *flags)

    def add_worker(self, threads: int) -> subprocess.Popen[bytes]:
        """Starts a worker; it waits for a scheduler that is away."""
        return self._start(
            "worker", self.address, "--nthreads", str(threads), "--no-dashboard",
            "--local-directory", str(self._folder), "--memory-limit", "0",
        )  # fmt: skip

    def restart_scheduler(self) -> None:
        """Kills the scheduler, and starts a new one at its address."""
        kill(self.scheduler)
        self.scheduler = self._start_scheduler()

    def _start(self, *arguments: str) -> subprocess.Popen[bytes]:
        with (self._folder / f"{arguments[0]}-{len(self._processes)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "dask", *arguments],
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self._environment,
                start_new_session=True,
            )
        self._processes.append(process)
        return process

    def close(self) -> None:
        """Kills all of them."""
        for process in self._processes:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """With its children: a worker has one that would start it again."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def dask_cluster(folder: Path, environment: Mapping[str, str]) -> Iterator[DaskCluster]:
    """A scheduler without workers, until the end."""
    cluster = DaskCluster(folder, environment)
    try:
        yield cluster
    finally:
        cluster.close()
