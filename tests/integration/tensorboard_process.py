"""A real `tensorboard` process on a free port, for as long as a test needs it."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from report_checker import contradictions

READY_SECONDS = 120.0
"""A loaded CI machine that imports TensorFlow takes a while."""
_POLL_SECONDS = 0.05

LOADERS = {"rust": ["--load_fast=true"], "python": ["--load_fast=false"]}


@dataclass(frozen=True)
class Answer:
    """What the server sent."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class TensorBoardProcess:
    """TensorBoard as a user starts it, in a working directory that is not the checkout.

    Args:
      arguments: Flags after `tensorboard`, `--logdir` among them.
      cwd: Where it is started, and where its log is written.
      path_prefix: As the flag, without a slash at its end.
      commands: Folder of the environment's commands; that of this process by default.
      has_tensorflow: Whether TensorBoard imports TensorFlow, as it does where that is installed.
        That takes 3 s; without it TensorBoard has a stub.
    """

    arguments: Sequence[str]
    cwd: Path
    path_prefix: str = ""
    commands: Path = Path(sys.executable).parent
    has_tensorflow: bool = False
    port: int = field(init=False, default=0)
    started_seconds: float = field(init=False, default=0.0)
    """Seconds from the start of the process to its first answer."""
    _process: subprocess.Popen[bytes] = field(init=False)

    @property
    def log(self) -> str:
        """What it has written so far."""
        return (self.cwd / "tensorboard.log").read_text(encoding="utf-8", errors="replace")

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def url(self) -> str:
        """Where the user's browser goes."""
        return f"http://localhost:{self.port}{self.path_prefix}/"

    def __enter__(self) -> TensorBoardProcess:
        self.port = _free_port()
        command = [
            str(self.commands / "tensorboard"),
            f"--port={self.port}",
            "--reload_interval=1",
            *([f"--path_prefix={self.path_prefix}"] if self.path_prefix else []),
            *self.arguments,
        ]
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        if not self.has_tensorflow:
            environment["PYTHONPATH"] = str(Path(__file__).with_name("without_tensorflow"))
        began = time.monotonic()
        with (self.cwd / "tensorboard.log").open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.cwd,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        try:
            self.wait_until("it answers", self._answers)
        except BaseException:
            self._stop()
            raise
        self.started_seconds = time.monotonic() - began
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()

    def request(
        self, path: str, *, method: str = "GET", headers: dict[str, str] | None = None
    ) -> Answer:
        """Ask for a path below the prefix."""
        connection = http.client.HTTPConnection("localhost", self.port, timeout=READY_SECONDS)
        try:
            connection.request(method, self.path_prefix + path, headers=headers or {})
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def slowdown(self, route: str, **query: object) -> Answer:
        """Ask a route of ours, which must not fail."""
        answer = self.request(f"/data/plugin/slowdown/{route}?{urllib.parse.urlencode(query)}")
        assert answer.status < 500, self.log
        if route == "report" and answer.status == 200:
            for run in answer.json["runs"]:
                found = contradictions(run)
                assert not found, found  # pytest shows no values of a module that is no test
        return answer

    def runs(self) -> dict[str, dict[str, Any]]:
        """Each run of the list of runs, by its name."""
        return {run["run"]: run for run in self.slowdown("runs").json["runs"]}

    def scalar(self, run: str, tag: str) -> list[list[float]]:
        """[time, step, value] of each point of a scalar chart; none yet is an empty list."""
        query = urllib.parse.urlencode({"run": run, "tag": tag})
        answer = self.request(f"/data/plugin/scalars/scalars?{query}")
        points: list[list[float]] = answer.json if answer.status == 200 else []
        return points

    def wait_until(
        self, what: str, condition: Callable[[], bool], seconds: float = READY_SECONDS
    ) -> None:
        """Wait for a condition; fails with TensorBoard's log when it never comes true."""
        end = time.monotonic() + seconds
        while not condition():
            if self._process.poll() is not None:
                raise AssertionError(
                    f"tensorboard ended with status {self._process.returncode}:\n{self.log}"
                )
            if time.monotonic() > end:
                raise AssertionError(f"waited {seconds:.0f} s until {what}, in vain:\n{self.log}")
            time.sleep(_POLL_SECONDS)

    def _answers(self) -> bool:
        try:
            return self.request("/data/plugins_listing").status == 200
        except OSError:
            return False

    def _stop(self) -> None:
        if self._process.poll() is None:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(10.0)
        # The Rust loader is a child of its own; nothing of the session may outlive the test.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        port: int = listener.getsockname()[1]
        return port
