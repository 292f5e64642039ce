"""What reading a large capture takes: a real one of about 100 MB, in a process of its own.

Run `python benchmarks/trace_reading.py`; it exits with 1 where the promise (at most 3 s
and 500 MB for 100 MB) is not kept.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

STEPS = 4_500
"""Of a small model whose tf.data pipeline makes many events: about 100 MB."""
MOST_SECONDS = 3.0
MOST_MEGABYTES = 500.0


def capture(logdir: str) -> None:
    """Captures STEPS steps."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow as tf

    model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam()
    model.build((None, 1))
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(x: tf.Tensor) -> None:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(tf.reshape(x, (-1, 1))) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))

    numbers = tf.data.Dataset.range(10**9).map(lambda n: tf.cast(n, tf.float32))
    data = iter(numbers.map(lambda n: n * 0.5).batch(16).prefetch(1))
    step(next(data))
    tf.profiler.experimental.start(logdir)
    for number in range(STEPS):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            step(next(data))
    tf.profiler.experimental.stop()


def read(path: Path) -> int:
    """Reads one, in this process, and prints what it took."""
    from tb_slowdown_plugin.profiler.read import read_trace
    from tb_slowdown_plugin.profiler.steps import nothing_recorded

    began, cpu_began = time.perf_counter(), time.process_time()
    trace = read_trace(path, nothing_recorded())
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    size = path.stat().st_size / 1e6
    print(f"{size:.0f} MB, {trace.events:,} events, {len(trace.steps):,} steps")
    print(f"{seconds:.2f} s ({cpu_seconds:.2f} s CPU), {megabytes:.0f} MB resident at most")
    share = max(1.0, size / 100.0)
    kept = seconds <= MOST_SECONDS * share and megabytes <= MOST_MEGABYTES * share
    print("kept" if kept else "NOT KEPT", f"(<= {MOST_SECONDS} s and {MOST_MEGABYTES:.0f} MB)")
    return 0 if kept else 1


def main() -> int:
    """Captures in one process and reads in another: each has its own memory."""
    with tempfile.TemporaryDirectory() as logdir:
        command = [sys.executable, __file__]
        subprocess.run([*command, "capture", logdir], check=True)
        (path,) = Path(logdir).glob("plugins/profile/*/*.xplane.pb")
        return subprocess.run([*command, "read", str(path)], check=False).returncode


if __name__ == "__main__":
    if sys.argv[1:2] == ["capture"]:
        capture(sys.argv[2])
    elif sys.argv[1:2] == ["read"]:
        sys.exit(read(Path(sys.argv[2])))
    else:
        sys.exit(main())
