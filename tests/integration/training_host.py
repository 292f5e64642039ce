"""Programs that train, each in a process of its own, without importing TensorFlow anew for each.

Run as a program it imports TensorFlow once and forks a child for each body that it is sent; a
child runs it at its top level and ends as any program does, `atexit` and all. TensorFlow makes
its threads at its first operation, so that a child is as good as a fresh process.
"""

from __future__ import annotations

import contextlib
import json
import linecache
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PRELUDE = """
import os, signal, sys, threading, time
from pathlib import Path
import tensorflow as tf
import tbslow

def train(steps, seconds=0.0, after=lambda number: None):
    for number in range(steps):
        with tbslow.summary.step(number):
            time.sleep(seconds)
        after(number)

logdir = sys.argv[1]
"""
SCRIPT = """
import runpy
sys.argv = given["argv"]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
_SECONDS = 60.0


@dataclass(frozen=True)
class Finished:
    """What is left of a program."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def warnings(self) -> list[str]:
        """What the monitor has warned of."""
        return [line for line in self.stderr.splitlines() if "slowdown monitor" in line]


class Training:
    """A program that runs."""

    def __init__(self, host: TrainingHost, pid: int, out: Path, err: Path) -> None:
        self.pid = pid
        self._host = host
        self._out = out
        self._err = err

    @property
    def complained(self) -> str:
        """Its standard error so far."""
        return self._err.read_text()

    @property
    def said(self) -> str:
        """Its output so far."""
        return self._out.read_text()

    def wait_for(self, text: str) -> None:
        """Until it has said something; it is killed when that takes too long."""
        end = time.monotonic() + _SECONDS
        while text not in self.said + self.complained:
            if time.monotonic() > end:
                self.kill()
                raise AssertionError((text, self.said, self.complained))
            time.sleep(0.01)

    def kill(self) -> None:
        """Ends it at once."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self, seconds: float = _SECONDS) -> Finished:
        """Until it has ended; it is killed when that takes too long."""
        late = threading.Timer(seconds, self.kill)
        late.start()
        status = self._host.ask({"wait": self.pid})["status"]
        late.cancel()
        return Finished(status, self.said, self.complained)


class TrainingHost:
    """The process that forks programs; made once a module."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        with (folder / "host.log").open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-W", "ignore", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                start_new_session=True,
                env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
            )

    def start(self, body: str, logdir: Path | str, **arguments: Any) -> Training:
        """Starts a program with `PRELUDE` before it; `arguments` are in its `given`."""
        self._count += 1
        out = self._folder / f"{self._count}.out"
        err = self._folder / f"{self._count}.err"
        out.touch()
        err.touch()
        asked = {
            "body": PRELUDE + textwrap.dedent(body),
            "logdir": str(logdir),
            "given": arguments,
            "out": str(out),
            "err": str(err),
        }
        return Training(self, self.ask(asked)["pid"], out, err)

    def run(self, body: str, logdir: Path | str, **arguments: Any) -> Finished:
        """Runs a program to its end."""
        return self.start(body, logdir, **arguments).wait()

    def start_script(self, path: Path, *arguments: object) -> Training:
        """Starts a program as `python PATH ARGUMENTS` does."""
        return self.start(SCRIPT, "", argv=[str(path), *map(str, arguments)])

    def ask(self, what: dict[str, Any]) -> dict[str, Any]:
        """Sends the host a line and returns its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(what) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """Ends the host, and what still runs of its programs."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.communicate()


@contextlib.contextmanager
def training_host(folder: Path) -> Iterator[TrainingHost]:
    """A host, ended afterwards."""
    host = TrainingHost(folder)
    try:
        yield host
    finally:
        host.close()


def _next_program() -> dict[str, Any]:
    """In the host: forks children until it is closed. In a child: returns what it is to run."""
    lines = os.fdopen(os.dup(0))
    answers = os.fdopen(os.dup(1), "w")
    while line := lines.readline():
        asked: dict[str, Any] = json.loads(line)
        if "wait" in asked:
            _, status = os.waitpid(asked["wait"], 0)
            answer = {"status": os.waitstatus_to_exitcode(status)}
        elif pid := os.fork():
            answer = {"pid": pid}
        else:
            null = os.open(os.devnull, os.O_RDONLY)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            for name, number in (("out", 1), ("err", 2)):
                os.dup2(os.open(asked[name], flags), number)
            os.dup2(null, 0)
            return asked
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    os._exit(0)


if __name__ == "__main__":
    import tensorflow as tf

    import tbslow

    tf.config.threading.get_intra_op_parallelism_threads()
    tbslow.start  # noqa: B018, loads what is lazy
    program = _next_program()
    sys.argv = ["program.py", program["logdir"]]
    # AutoGraph asks for the source of functions.
    lines = program["body"].splitlines(keepends=True)
    linecache.cache["program.py"] = (len(program["body"]), None, lines, "program.py")
    names = {"given": program["given"], "__name__": "__main__"}
    exec(compile(program["body"], "program.py", "exec"), names)
