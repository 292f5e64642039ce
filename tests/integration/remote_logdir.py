"""A program: reads a logdir on fsspec filesystems, where TensorFlow is not installed.

    remote_logdir.py LOGDIR

Copies LOGDIR to memory:// (as it would lie in s3:// or gs://), and prints as JSON what the
command and the tab say of it; then the same of a filesystem whose answers come late, and
whether the tab answers while that one does not answer at all.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import threading
import time
import types
import warnings
from pathlib import Path
from typing import Any

# TensorBoard's own switch for a process without TensorFlow.
sys.modules["tensorboard.compat.notf"] = types.ModuleType("tensorboard.compat.notf")
sys.path.insert(0, str(Path(__file__).parent.parent))

import fsspec  # noqa: E402
from fsspec.implementations.memory import MemoryFileSystem  # noqa: E402

warnings.simplefilter("ignore", DeprecationWarning)

from tensorboard_loader import TensorBoard, serve  # noqa: E402
from werkzeug.test import Client  # noqa: E402

from tb_slowdown_plugin.__main__ import main  # noqa: E402
from tb_slowdown_plugin.analysis.live.follow import follow  # noqa: E402
from tb_slowdown_plugin.server.plugin import SlowdownPlugin  # noqa: E402
from tb_slowdown_plugin.server.runs import Runs  # noqa: E402

LATE_SECONDS = 0.02


class LateFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """The files of memory://, each call as late as over a network; `gate` holds all up."""

    protocol = "late"
    store = MemoryFileSystem.store
    pseudo_dirs = MemoryFileSystem.pseudo_dirs
    gate = threading.Event()
    held_up = threading.Event()

    @classmethod
    def _strip_protocol(cls, path: str) -> Any:
        return super()._strip_protocol(path.replace("late://", "memory://"))

    def _wait(self) -> None:
        if not self.gate.is_set():
            self.held_up.set()
        self.gate.wait()
        time.sleep(LATE_SECONDS)

    def _open(self, *args: Any, **kwargs: Any) -> Any:
        self._wait()
        return super()._open(*args, **kwargs)

    def ls(self, *args: Any, **kwargs: Any) -> Any:
        self._wait()
        return super().ls(*args, **kwargs)

    def info(self, *args: Any, **kwargs: Any) -> Any:
        self._wait()
        return super().info(*args, **kwargs)


def command(address: str) -> Any:
    """What `tbslow report` prints, or its one line of complaint."""
    out, complaint = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(complaint):
        status = main(["report", address, "--format", "json"])
    return json.loads(out.getvalue()) if status == 0 else complaint.getvalue()


def tab(address: str) -> tuple[TensorBoard, Client]:
    """TensorBoard's loader over an address, and a client of the tab."""
    board = TensorBoard(address)
    runs = Runs(board.catalogue, follow, logdir=address)
    return board, Client(serve(SlowdownPlugin(runs)))


def asked(client: Client, route: str) -> Any:
    """The JSON that a route sends."""
    response = client.get(f"/data/plugin/slowdown/{route}")
    return response.get_json()


def run_all(logdir: str) -> dict[str, Any]:
    """Everything; see the module."""
    fsspec.register_implementation("late", LateFileSystem)
    memory = fsspec.filesystem("memory")
    memory.put(logdir, "/logs", recursive=True)
    found: dict[str, Any] = {"local": command(logdir), "memory": command("memory://logs")}
    board, client = tab("memory://logs")
    found["tab"] = {name: asked(client, f"report?run={name}") for name in ("run1", "run2")}
    found["captures"] = asked(client, "captures?run=run1")

    LateFileSystem.gate.set()
    found["late"] = command("late://logs")
    board, client = tab("late://logs")
    asked(client, "report?run=run1")
    LateFileSystem.gate.clear()
    reload = threading.Thread(target=board.reload)
    reload.start()
    assert LateFileSystem.held_up.wait(30.0)
    # TensorBoard's reload waits for the storage now, and will for as long as the gate is shut.
    found["while it hangs"] = [asked(client, "runs"), asked(client, "report?run=run2")]
    LateFileSystem.gate.set()
    reload.join(30.0)
    found["none"] = command("memory://elsewhere")
    found["unknown"] = command("nosuch://logs")
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(run_all(sys.argv[1])) + "\n")
