"""SIGKILL at any moment: what was flushed is readable, and nothing else is damaged.

`TBSLOW_KILLS=200 pytest tests/integration/test_faults_kill.py` kills more often, `--all` twice as
often as the gate.
"""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path

import pytest

pytest.importorskip("tensorflow")

from integration.written import numbers
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]

KILLS = 10
SOON_SECONDS = 0.25

TELLING = """
monitor = tbslow.start(logdir)
writer = tf.summary.create_file_writer(logdir)
number = 0
while True:
    with tbslow.summary.step(number), writer.as_default(step=number):
        tf.summary.scalar("loss", 1.0)
    number += 1
    if number % 41 == 0:
        writer.flush()
        monitor.flush()
        os.write(1, f"{number}\\n".encode())
"""
SLOW = """
tbslow.start(logdir)
train(10**9, 0.05, lambda number: os.write(1, f"{time.monotonic()}\\n".encode()))
"""


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    """How often a program is killed."""
    usual = 2 * KILLS if request.config.getoption("--all") else KILLS
    return int(os.environ.get("TBSLOW_KILLS", usual))


def test_what_was_flushed_is_readable_after_sigkill_at_any_moment(
    host, kills: int, tmp_path: Path
) -> None:
    other = host.run("with tbslow.start(logdir): train(50)", tmp_path / "other")
    assert other.returncode == 0, other.stderr
    chance = random.Random(kills)
    lost = []
    for kill in range(kills):
        run = tmp_path / f"run{kill}"
        training = host.start(TELLING, run)
        training.wait_for("\n")
        time.sleep(chance.random() * SOON_SECONDS)
        os.kill(training.pid, signal.SIGKILL)
        finished = training.wait()
        assert finished.returncode == -signal.SIGKILL, finished.stderr
        flushed = int(finished.stdout.split()[-1])
        written = numbers(run)
        assert written == list(range(len(written)))  # none twice, none out of order, no gap
        assert len(written) >= flushed
        lost.append(len(written) - flushed)
        (user_file,) = run.glob("*tfevents*")
        assert len(list(EventFileLoader(str(user_file)).Load())) >= 1 + flushed
    warned: list[str] = []
    runs = {run.name: run for run in read_runs(str(tmp_path), warn=warned.append)}
    assert len(runs) == kills + 1
    assert (len(runs["other"].steps), runs["other"].notes) == (50, ())
    for run in runs.values():
        assert all("middle of a record" in note for note in run.notes), run.notes
        assert all(session.missing_chunks == 0 for session in run.sessions)
    assert min(lost) >= 0


def test_sigkill_loses_at_most_ten_seconds(host, tmp_path: Path) -> None:
    training = host.start(SLOW, tmp_path / "run")
    training.wait_for("\n")
    time.sleep(12.5)  # past the first flush at 10 s
    os.kill(training.pid, signal.SIGKILL)
    killed = time.monotonic()
    ends = [float(line) for line in training.wait().stdout.split()]
    found = numbers(tmp_path)
    assert found == list(range(len(found)))
    assert killed - ends[len(found) - 1] <= 10.5
