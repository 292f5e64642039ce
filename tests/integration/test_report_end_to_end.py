"""From a real training loop through the real writer to the report of the command."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

tf = pytest.importorskip("tensorflow")

import tbslow  # noqa: E402
from tb_slowdown_plugin.__main__ import main  # noqa: E402
from tb_slowdown_plugin.reader.logdir import read_runs  # noqa: E402
from tb_slowdown_plugin.records.run import Run  # noqa: E402

pytestmark = [pytest.mark.tensorflow, pytest.mark.timed]


def read(logdir: Path) -> Run:
    (run,) = read_runs(str(logdir), warn=pytest.fail)
    return run


def report(logdir: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert main(["report", str(logdir), "--format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    return dict(run)


def test_100_000_steps_written_are_100_000_steps_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = time.time()
    with tbslow.start(tmp_path / "run1"):
        for _ in range(100_000):
            with tbslow.summary.step(items=32):
                sum(range(1000))  # about 10 us: no real step is shorter
    elapsed = time.time() - before
    run = read(tmp_path)
    assert run.name == "run1"
    np.testing.assert_array_equal(run.steps.number, np.arange(100_000))
    assert [session.missing_chunks for session in run.sessions] == [0]
    assert (run.steps.items == 32).all()
    assert (run.steps.period_seconds >= run.steps.inside_seconds).all()
    assert 0 < run.steps.period_seconds.sum() <= elapsed
    # Times of day are kept to a millisecond, periods to a microsecond.
    assert (np.diff(run.steps.ended) > -1e-3).all()
    found = report(tmp_path, capsys)
    assert found["steps"] == 100_000
    assert found["completeness"]["missing_chunks"] == 0
    assert found["wall_seconds"] == pytest.approx(run.steps.period_seconds.sum())


def test_a_python_number_that_retraces_is_named_with_its_seconds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    @tf.function
    def train_step(x: tf.Tensor, rate: float) -> tf.Tensor:
        for _ in range(30):
            x = tf.tanh(x * rate)
        return x

    batch = tf.ones((8, 8))
    with tbslow.start(tmp_path / "run1"):
        for number in range(400):
            rate = float(number) if number % 4 == 0 and number > 100 else 1.0
            with tbslow.summary.step():
                train_step(batch, rate)
    found = report(tmp_path, capsys)
    assert found["verdict"] == "slowdown"
    first = found["causes"][0]
    assert first["cause"] == "retracing"
    assert "train_step" in found["headline"]
    assert "rate" in " ".join([first["summary"], *first["evidence"]])
    explained = sum(cause["lost_seconds"] for cause in found["causes"])
    assert explained + found["unexplained_seconds"] == pytest.approx(
        found["lost_seconds"], rel=0.01
    )
    assert found["lost_seconds"] <= found["wall_seconds"]


def test_the_tf_summary_idiom_is_read_under_the_users_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    writer = tf.summary.create_file_writer(str(tmp_path / "run1"))
    with writer.as_default():
        for number in range(1000):
            with tbslow.summary.step(number):
                if number % 10 == 0:
                    tf.summary.scalar("loss", 0.5, step=number)
    writer.close()
    run = read(tmp_path)
    assert run.name == "run1"
    np.testing.assert_array_equal(run.steps.number, np.arange(1000))
    assert report(tmp_path, capsys)["steps"] == 1000


def test_a_resumed_run_is_shown_as_such_with_nothing_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for numbers in (range(300), range(200, 500)):
        with tbslow.start(tmp_path / "run1"):
            for number in numbers:
                with tbslow.summary.step(number):
                    pass
    run = read(tmp_path)
    np.testing.assert_array_equal(run.steps.number, [*range(300), *range(200, 500)])
    assert [session.first_row for session in run.sessions] == [0, 300]
    assert "Resumed at step 200." in report(tmp_path, capsys)["notes"]


KILLED = """
import sys, time
import tbslow
monitor = tbslow.start(sys.argv[1])
for number in range(5000):
    with tbslow.summary.step():
        pass
monitor.flush()
for number in range(50):
    with tbslow.summary.step():
        pass
print("flushed", flush=True)
time.sleep(600)
"""


def test_a_killed_process_loses_nothing_that_was_flushed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "run1")],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"flushed\n"
        process.send_signal(signal.SIGKILL)
    run = read(tmp_path)
    assert len(run.steps) >= 5000
    np.testing.assert_array_equal(run.steps.number, np.arange(len(run.steps)))
    assert report(tmp_path, capsys)["completeness"]["missing_chunks"] == 0
