"""What goes wrong around a training process: kills, full disks, forks, read-only places.

Each case is a real program in a process of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.types import Chunk, Failure

pytestmark = pytest.mark.tensorflow

PRELUDE = """
import os, sys, time
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


def program(body: str) -> str:
    return PRELUDE + textwrap.dedent(body)


def run(tmp_path: Path, body: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program(body), str(tmp_path / "run")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
        **options,
    )


def warnings_of(finished: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in finished.stderr.splitlines() if "slowdown monitor" in line]


def chunks(directory: Path) -> list[Chunk]:
    return [
        decode(value.tensor.string_val[0])
        for file in sorted(directory.rglob("*tfevents*"))
        for event in EventFileLoader(str(file)).Load()
        for value in event.summary.value
        if value.metadata.plugin_data.plugin_name == "slowdown"
    ]


def numbers(directory: Path) -> list[int]:
    return [number for chunk in chunks(directory) for number in chunk.steps.number.tolist()]


def failures(directory: Path) -> list[Failure]:
    return [
        event.what
        for chunk in chunks(directory)
        for event in chunk.events
        if isinstance(event.what, Failure)
    ]


def test_a_program_that_just_ends_has_everything_written(tmp_path):
    finished = run(tmp_path, "monitor = tbslow.start(logdir); train(300); print('trained')")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "trained\n"
    assert numbers(tmp_path) == list(range(300))
    assert warnings_of(finished) == []


def test_in_the_idiom_too_a_program_that_just_ends_has_everything_written(tmp_path):
    body = """
    tf.summary.create_file_writer(logdir).set_as_default()
    train(300)
    """
    finished = run(tmp_path, body)
    assert finished.returncode == 0, finished.stderr
    assert numbers(tmp_path) == list(range(300))
    assert warnings_of(finished) == []


@pytest.mark.slow
def test_sigkill_loses_at_most_ten_seconds(tmp_path):
    body = """
    tbslow.start(logdir)
    def tell(number):
        print(number, flush=True)
    train(10**9, 0.05, tell)
    """
    process = subprocess.Popen(
        [sys.executable, "-c", program(body), str(tmp_path / "run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    ends: list[float] = []
    assert process.stdout is not None
    for _ in process.stdout:
        ends.append(time.monotonic())
        if ends[-1] - ends[0] > 13.0:
            break
    process.send_signal(signal.SIGKILL)
    killed = time.monotonic()
    process.stdout.close()
    process.wait(30)
    found = numbers(tmp_path)
    assert found == list(range(len(found)))
    assert killed - ends[len(found) - 1] <= 10.5


def test_a_full_disk_costs_one_warning_and_training_goes_on(tmp_path):
    # A limit on the size of files is what a full disk is to the program: writes fail.
    body = """
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with tbslow.start(logdir) as monitor:
        train(100); monitor.flush()
        size = next(Path(logdir).rglob("*tfevents*")).stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 100, resource.RLIM_INFINITY))
        train(100); monitor.flush()
        resource.setrlimit(resource.RLIMIT_FSIZE, (10, resource.RLIM_INFINITY))
        for _ in range(4):
            train(100); monitor.flush()
        first, = Path(logdir).rglob("*tfevents*")  # no retry leaves a file behind
        assert first.stat().st_size == size  # nor half a record
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        train(100)
    print("trained")
    """
    finished = run(tmp_path, body)
    assert finished.stdout == "trained\n", finished.stderr
    assert len(warnings_of(finished)) == 1
    assert "writing failed" in warnings_of(finished)[0]
    assert len(numbers(tmp_path)) == 700  # kept in memory until there was room again
    assert [failure.part for failure in failures(tmp_path)] == ["writing"]


def test_a_place_that_can_not_be_written_costs_one_warning(tmp_path):
    body = """
    with tbslow.start("/proc/no-such-place/run") as monitor:
        for _ in range(3):
            train(10); monitor.flush()
    print("trained")
    """
    finished = run(tmp_path, body)
    assert finished.returncode == 0
    assert finished.stdout == "trained\n"
    assert len(warnings_of(finished)) == 1


def test_a_forked_child_writes_nothing_and_may_train_on(tmp_path):
    body = """
    with tbslow.start(logdir) as monitor:
        train(10)
        pid = os.fork()
        if pid == 0:
            train(5)
            with tbslow.summary.phase("forward"):
                pass
            for _ in tbslow.data([1, 2]):
                pass
            monitor.flush()
            monitor.stop()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
        train(10)
    print("trained")
    """
    finished = run(tmp_path, body)
    assert finished.stdout == "trained\n", finished.stderr
    assert numbers(tmp_path) == [*range(10), *range(10)]
    assert len({chunk.session for chunk in chunks(tmp_path)}) == 1


def test_eager_execution_disabled(tmp_path):
    body = """
    tf.compat.v1.disable_eager_execution()
    x = tf.compat.v1.placeholder(tf.float32, [])
    y = x * 2.0
    with tbslow.start(logdir), tf.compat.v1.Session() as session:
        for number in tbslow.data(range(30)):
            with tbslow.summary.step():
                session.run(y, {x: number})
    print("trained")
    """
    finished = run(tmp_path, body)
    assert finished.stdout == "trained\n", finished.stderr
    assert warnings_of(finished) == []
    assert numbers(tmp_path) == list(range(30))
    assert failures(tmp_path) == []


def test_a_collector_that_breaks_costs_one_warning(tmp_path):
    body = """
    from tb_slowdown_plugin.writer import monitor as monitors

    class Broken:
        name = "broken"
        def start(self, context): pass
        def stop(self): pass
        def read(self): raise RuntimeError("gone")

    good = monitors.create_collectors
    monitors.create_collectors = lambda: [*good(), Broken()]
    with tbslow.start(logdir) as monitor:
        train(20, 0.05)
    print("trained")
    """
    finished = run(tmp_path, body)
    assert finished.stdout == "trained\n", finished.stderr
    assert len(warnings_of(finished)) == 1
    assert failures(tmp_path) == [Failure("broken", "RuntimeError: gone")]
    states = {c.name: c for c in chunks(tmp_path)[0].environment.collectors}
    assert (states["broken"].status, states["broken"].reason) == ("failed", "RuntimeError: gone")


def test_warnings_as_errors_do_not_reach_the_training(tmp_path):
    body = """
    import warnings
    warnings.simplefilter("error")
    with tbslow.start("/proc/no-such-place/run") as monitor:
        train(10)
        monitor.flush()
    print("trained")
    """
    assert run(tmp_path, body).stdout == "trained\n"
