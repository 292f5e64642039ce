"""Run in each environment of the matrix: records, reports, and opens under both loaders.

    python check.py DEMO_LOGS

The last line of the output is a JSON object; an exception means that the row fails.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

PACKAGES: Final = ("tensorflow", "tensorflow-cpu", "tensorboard", "keras", "protobuf", "numpy")
LOADERS: Final = {"python": "--load_fast=false", "rust": "--load_fast=true"}
_READY_SECONDS: Final = 180.0
LOOP_STEPS: Final = 150
FIT_STEPS: Final = 60


def versions() -> dict[str, str]:
    """What is installed."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[package.removesuffix("-cpu")] = importlib.metadata.version(package)
    return found


def record(logdir: Path) -> None:
    """A loop that is traced at each step, and a Keras fit."""
    import keras
    import numpy as np
    import tensorflow as tf

    import tbslow

    @tf.function
    def train(x: Any, number: Any) -> Any:
        return tf.reduce_sum(tf.square(x) * number)

    with tbslow.start(str(logdir / "loop")):
        x = tf.ones((64, 64))
        for number in tbslow.data(range(LOOP_STEPS)):
            with tbslow.summary.step(number, items=64):
                train(x, number)
    model = keras.Sequential([keras.Input((8,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    data = tf.data.Dataset.from_tensor_slices((np.ones((320, 8)), np.ones((320, 1)))).batch(16)
    callback = tbslow.keras.SlowdownCallback(str(logdir / "fit"))
    model.fit(data, epochs=3, verbose=0, callbacks=[callback])


def report(logdir: Path) -> dict[str, dict[str, Any]]:
    """The report of each run in a logdir, as the command writes it."""
    command = [str(Path(sys.executable).parent / "tbslow"), "report", str(logdir)]
    done = subprocess.run([*command, "--format", "json"], capture_output=True, check=True)
    return {run["run"]: run for run in json.loads(done.stdout)["runs"]}


def check_report(logdir: Path, demos: Path) -> str:
    """What is said of runs whose truth is known."""
    expected = json.loads((demos / "expected.json").read_text())
    named = {
        name: run["causes"][0]["cause"] if run["verdict"] != "healthy" else "healthy"
        for name, run in report(demos).items()
    }
    assert named == expected, {name: named[name] for name in named if named[name] != expected[name]}
    if (logdir / "loop").exists():
        runs = report(logdir)
        assert {name: run["steps"] for name, run in runs.items()} == {
            "loop": LOOP_STEPS,
            "fit": FIT_STEPS,
        }
        assert runs["loop"]["causes"][0]["cause"] == "retracing", runs["loop"]["headline"]
        for run in runs.values():
            failed = [signal for signal in run["signals"] if signal["status"] == "failed"]
            assert not failed, failed
            assert run["completeness"]["missing_chunks"] == 0
    return f"{len(named)} demos right"


def check_loader(logdir: Path, flag: str) -> str:
    """Every step of every run is answered by a TensorBoard with this loader."""
    expected = {name: run["steps"] for name, run in report(logdir).items()}
    with tensorboard(logdir, flag) as base:
        end = time.monotonic() + _READY_SECONDS
        found: dict[str, int] = {}
        while found != expected:
            assert time.monotonic() < end, (found, expected)
            time.sleep(0.2)
            body = ask(base + "data/plugin/slowdown/runs")
            found = {
                run["run"]: run["steps"] for run in json.loads(body or b'{"runs": []}')["runs"]
            }
        for name in expected:
            query = urllib.parse.urlencode({"run": name})
            for route in ("report", "timeline", "retraces", "changed", "captures"):
                assert ask(f"{base}data/plugin/slowdown/{route}?{query}"), (route, name)
        assert b"render" in (ask(base + "data/plugin/slowdown/index.js") or b"")
    return f"{sum(expected.values())} steps of {len(expected)} runs"


@contextlib.contextmanager
def tensorboard(logdir: Path, flag: str) -> Iterator[str]:
    """The address of a TensorBoard that shows a logdir."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [
                str(Path(sys.executable).parent / "tensorboard"),
                f"--logdir={logdir}",
                "--port=0",
                "--reload_interval=1",
                flag,
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            end = time.monotonic() + _READY_SECONDS
            said = ""
            while not (found := re.search(r"http://\S+:(\d+)/", said)):
                log.seek(0)
                said = log.read().decode(errors="replace")
                assert process.poll() is None, said[-2000:]
                assert time.monotonic() < end, said[-2000:]
                time.sleep(0.2)
            yield f"http://localhost:{found[1]}/"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def ask(url: str) -> bytes | None:
    """The body of a good answer, None otherwise."""
    try:
        with urllib.request.urlopen(url, timeout=60.0) as answer:
            body: bytes = answer.read()
            return body
    except (TimeoutError, urllib.error.URLError, ConnectionError):
        return None


def main() -> None:
    """Prints what was checked."""
    demos = Path(sys.argv[1])
    found: dict[str, Any] = {"versions": versions()}
    with tempfile.TemporaryDirectory() as folder:
        logdir = Path(folder)
        if importlib.util.find_spec("tensorflow"):
            record(logdir)
            found["training"] = f"{LOOP_STEPS + FIT_STEPS} steps"
        found["report"] = check_report(logdir, demos)
        shown = logdir if "training" in found else demos
        for loader, flag in LOADERS.items():
            found[loader] = check_loader(shown, flag)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
