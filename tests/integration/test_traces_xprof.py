"""XProf and our reader say the same of the same captures: committed ones, and some made here."""

from __future__ import annotations

import contextlib
import gzip
import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import xprof_commands
from unit.profiler.xspace_writer import gpu_steps

import tbslow
from tb_slowdown_plugin.profiler.read import read_trace
from tb_slowdown_plugin.profiler.steps import nothing_recorded
from tb_slowdown_plugin.profiler.types import CaptureTrace

DATA = Path(__file__).parent.parent / "unit/profiler/data"
LONG = 3000
EDGE_SECONDS = 2e-4
"""Between the end of one marker and the beginning of the next lie Python and the monitor:
our step holds it, XProf's does not."""


def ask_xprof(*paths: Path) -> list[dict[str, Any]]:
    """What XProf says, in the environment that has it."""
    command = [xprof_commands() / "python", DATA / "record.py", "ask", *paths]
    asked = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert asked.returncode == 0, asked.stderr[-3000:]
    said: list[dict[str, Any]] = json.loads(asked.stdout)
    return said


def read(path: Path) -> CaptureTrace:
    return read_trace(path, nothing_recorded())


def test_the_committed_numbers_are_xprofs(tmp_path: Path) -> None:
    kept = json.loads((DATA / "xprof.json").read_text())
    paths = []
    for name in kept:
        (tmp_path / name).mkdir()
        paths.append(tmp_path / name / "vm.xplane.pb")
        paths[-1].write_bytes(gzip.decompress((DATA / f"{name}.xplane.pb.gz").read_bytes()))
    assert dict(zip(kept, ask_xprof(*paths), strict=True)) == kept


def test_a_trace_in_the_form_of_a_gpus(tmp_path: Path) -> None:
    """Made, not recorded: XProf takes it for a GPU's, and a kernel goes before a copy."""
    path = tmp_path / "vm.xplane.pb"
    path.write_bytes(gpu_steps(6))
    (said,) = ask_xprof(path)
    trace = read(path)
    assert said["steps"].keys() == {"1", "2", "3", "4"}
    for number, told in said["steps"].items():
        at = int(number)
        assert told["device"] == pytest.approx(trace.parts["device"][at]) == pytest.approx(0.008)
        # XProf calls copies "input" and "output", and looks at the device alone.
        assert told["input"] + told["output"] == pytest.approx(0.004)
        assert trace.parts["copies"][at] == pytest.approx(0.004)


@pytest.mark.tensorflow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_captures_made_now(tmp_path: Path) -> None:
    """Keras with our callback and without; a loop of 3,000 steps; one of 10 without markers."""
    pytest.importorskip("tensorflow")
    xprof_commands()  # without it, nothing need be captured
    marked = capture_fit(tmp_path / "marked", with_monitor=True)
    plain = capture_fit(tmp_path / "plain", with_monitor=False)
    loop = capture_loop(tmp_path / "loop", LONG)
    unmarked = capture_loop(tmp_path / "unmarked", 100, marked=False)
    said_marked, said_plain, said_loop, said_unmarked = ask_xprof(marked, plain, loop, unmarked)

    # Keras marks its batches in a way that XProf does not take: "No step marker observed".
    assert said_plain["steps"] == {}
    trace = read(plain)
    assert (trace.steps.by, len(trace.steps)) == ("step_num", 10)
    assert_same_operations(trace, said_plain)

    assert said_unmarked["steps"] == {}
    trace = read(unmarked)
    assert (trace.steps.by, len(trace.steps)) == ("whole", 1)
    assert_same_operations(trace, said_unmarked)

    trace = read(marked)
    assert trace.steps.by == "step_num"
    assert len(said_marked["steps"]) >= 6
    assert_same_steps(trace, said_marked)
    assert_same_operations(trace, said_marked)

    trace = read(loop)
    assert len(trace.steps) == LONG
    assert len(said_loop["steps"]) >= LONG - 2
    assert_same_steps(trace, said_loop)
    assert_same_operations(trace, said_loop)
    (function,) = trace.functions
    assert (function.name, function.calls, function.traced) == ("update", LONG, 1)
    assert trace.parts["tracing"].argmax() == LONG // 2


def capture_fit(folder: Path, *, with_monitor: bool) -> Path:
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(32), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = tf.data.Dataset.from_tensor_slices((tf.ones((240, 64)), tf.ones((240, 1))))
    board = tf.keras.callbacks.TensorBoard(
        str(folder), write_graph=False, profile_batch=(5, 14), update_freq="epoch"
    )
    ours = [tbslow.keras.SlowdownCallback(folder)] if with_monitor else []
    model.fit(data.batch(8), callbacks=[board, *ours], verbose=0, shuffle=False)
    for callback in ours:
        callback.monitor.stop()
    return only(folder)


def capture_loop(folder: Path, steps: int, *, marked: bool = True) -> Path:
    import tensorflow as tf

    @tf.function
    def update(x: tf.Tensor, factor: int) -> tf.Tensor:
        return tf.reduce_sum(tf.matmul(x, x)) * factor

    data = iter(tf.data.Dataset.range(10**9).map(lambda n: tf.ones((32, 32))))
    update(next(data), 1)
    with tbslow.start(folder):
        tf.profiler.experimental.start(str(folder))
        for number in range(steps):
            with tbslow.summary.step(number) if marked else contextlib.nullcontext():
                update(next(data), 1 + (number == steps // 2))
        tf.profiler.experimental.stop()
    return only(folder)


def only(folder: Path) -> Path:
    (path,) = folder.glob("**/*.xplane.pb")
    return path


def assert_same_steps(trace: CaptureTrace, said: dict[str, Any]) -> None:
    seconds = trace.steps.ends - trace.steps.begins
    index = {number: index for index, number in enumerate(trace.steps.number.tolist())}
    shared = [(index[int(number)], told) for number, told in said["steps"].items()]
    ours = np.array([seconds[at] for at, _ in shared])
    theirs = np.array([told["seconds"] for _, told in shared])
    assert np.all(ours >= theirs - 2e-6)
    # A busy machine stops the thread now and then between two markers.
    assert np.median(ours - theirs) < EDGE_SECONDS
    waits = np.array([trace.parts["input"][at] for at, _ in shared])
    told = np.array([told["input"] for _, told in shared])
    assert np.median(np.abs(waits - told)) <= 2e-6
    assert waits.sum() == pytest.approx(told.sum(), rel=0.02, abs=1e-4)


def assert_same_operations(trace: CaptureTrace, said: dict[str, Any]) -> None:
    busy = {item.name: item.busy_seconds for item in trace.items}
    compared = 0
    for operation, seconds in said["operations"].items():
        if operation in busy and seconds >= 4e-5:
            # XProf also counts what lies outside of the steps.
            assert busy[operation] == pytest.approx(seconds, rel=0.05, abs=2e-5), operation
            compared += 1
    assert compared >= 1, (said["operations"], busy)
