"""What the monitor costs the training, beside what people use already."""

from __future__ import annotations

import contextlib
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from benchmarks.row import Row, unless_busy

_BLOCKS: Final = 200
_FLUSHES: Final = 60
_STEPS_A_FLUSH: Final = 100
_ROUNDS: Final = 16


def measure_steps() -> list[Row]:
    """One empty step beside a scalar, Keras's callback, TensorFlow's own marker, and nothing."""
    import keras
    import tensorflow as tf

    import tbslow
    from benchmarks import step_cost

    def nothing_done(number: int) -> None:  # noqa: ARG001
        with contextlib.nullcontext():
            pass

    def marked(number: int) -> None:
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            pass

    def called_back(number: int) -> None:
        callback.on_train_batch_begin(number)
        callback.on_train_batch_end(number, {"loss": 1.0})

    measured: dict[str, tuple[Callable[[int], None], int]] = {
        "loop": (step_cost.nothing, 100),
        "step": (step_cost.step, 100),
        "data": (step_cost.fetch_and_step, 100),
        "null": (nothing_done, 100),
        "trace": (marked, 100),
        "scalar": (step_cost.scalar, 20),
        "callback": (called_back, 20),
    }
    times: dict[str, list[float]] = {name: [] for name in measured}
    with tempfile.TemporaryDirectory() as logdir:
        callback = keras.callbacks.TensorBoard(f"{logdir}/keras", update_freq=1, write_graph=False)
        model = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        callback.set_model(model)
        callback.on_train_begin()
        callback.on_epoch_begin(0)
        writer = tf.summary.create_file_writer(f"{logdir}/user")
        with writer.as_default(), tbslow.start(f"{logdir}/run"):
            for block in range(_BLOCKS):
                for name, (call, count) in measured.items():
                    times[name].append(step_cost.time_block(call, count, block * count))
        callback.on_train_end()
    loop = statistics.median(times["loop"])
    cost = {name: statistics.median(found) - loop for name, found in times.items()}

    def beside(name: str, what: str) -> str:
        return f"{what} {cost[name]:.1f} µs: {cost[name] / cost['step']:.1f} times as much"

    step, ratio = cost["step"], cost["scalar"] / cost["step"]
    most, least = step_cost.MOST_MICROSECONDS, step_cost.LEAST_RATIO
    return [
        Row(
            "one `step()`",
            f"{step:.2f} µs",
            beside("scalar", "one `tf.summary.scalar`"),
            f"at most {most:.0f} µs, a scalar {least:.0f} times as much",
            unless_busy(step <= most) if ratio >= least else False,
        ),
        Row("", "", beside("callback", "Keras's TensorBoard callback, `update_freq=1`, a batch")),
        Row("", "", beside("trace", "`tf.profiler.experimental.Trace`, no profiler on")),
        Row("", "", beside("null", "an empty context manager")),
        Row("one `step()` and its batch of `tbslow.data`", f"{cost['data']:.2f} µs"),
    ]


def measure_overhead() -> list[Row]:
    """What a whole run takes more, by `run_overhead.py`, which says more of it."""
    command = [sys.executable, "benchmarks/run_overhead.py", "--rounds", str(_ROUNDS)]
    done = subprocess.run(
        command,
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=False,
    )
    rows = []
    for program, text in re.findall(r"(?m)^(\w+): (.* ms a step.*(?:\n .*)*)", done.stdout):
        found, check = (
            re.search(rf"{way} .*= +(\S+) % \[ *(\S+), +(\S+)\]", text)
            for way in ("monitored", "plain again")
        )
        if found is None or check is None:
            continue
        share, least, most = map(float, found.groups())
        sound = float(check[2]) <= 0.0 <= float(check[3])
        rows.append(
            Row(
                f"a whole {program}: CPU time added",
                f"{share:.2f} % [{least:.2f}, {most:.2f}]",
                f"plain against plain {check[1]} % [{check[2]}, {check[3]}]"
                + ("" if sound else ": the check failed, nothing follows"),
                "at most 1 %",
                share <= 1.0 if sound else None,
            )
        )
    return rows or [Row("a whole run", "no figure: run_overhead.py failed")]


def measure_bytes() -> list[Row]:
    """What the records take on disk, by `record_bytes.py`."""
    from benchmarks import record_bytes

    rows = []
    for rate, steps in ((100.0, 30_000), (1000.0, 100_000)):
        with tempfile.TemporaryDirectory() as logdir:
            _, _, bytes_a_step = record_bytes.simulate(logdir, period_seconds=1 / rate, steps=steps)
        most = record_bytes.MOST_BYTES_PER_STEP
        rows.append(
            Row(
                f"on disk at {rate:.0f} steps a second",
                f"{bytes_a_step:.1f} bytes a step",
                "",
                f"at most {most:.0f}",
                bytes_a_step <= most,
            )
        )
    return rows


def measure_flush() -> list[Row]:
    """How long `flush` holds up who calls it; by itself the monitor writes in the background."""
    import tensorflow as tf

    import tbslow

    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as logdir:
        writer = tf.summary.create_file_writer(f"{logdir}/user")
        with tbslow.start(f"{logdir}/run") as monitor, writer.as_default():
            for _ in range(_FLUSHES):
                for number in range(_STEPS_A_FLUSH):
                    with tbslow.summary.step(number):
                        tf.summary.scalar("loss", 1.0, step=number)
                ours.append(_time(monitor.flush))
                theirs.append(_time(writer.flush))
    mine, other = statistics.median(ours[5:]), statistics.median(theirs[5:])
    return [
        Row(
            f"`monitor.flush()` with {_STEPS_A_FLUSH} steps pending",
            f"{mine * 1e3:.2f} ms",
            f"`flush` of a `tf.summary` writer with {_STEPS_A_FLUSH} scalars {other * 1e3:.2f} ms",
        )
    ]


def _time(call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
