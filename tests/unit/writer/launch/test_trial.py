"""A trial counts steps, ends the program after the last, and writes what it has seen."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.jobs.trial_process import read_times
from tb_slowdown_plugin.records.trials import TIMES_FILE
from tb_slowdown_plugin.writer.launch import trial as trials
from tb_slowdown_plugin.writer.launch.interventions.base import Intervention
from tb_slowdown_plugin.writer.launch.trial import Nothing, TrialRun


class Ended(Exception):
    pass


class Changed(Intervention):
    untouched = "there is nothing to change"

    def __init__(self) -> None:
        super().__init__(0)
        self.seen: list[int] = []

    def after_step(self, finished: int) -> None:
        self.seen.append(finished)


@pytest.fixture(autouse=True)
def _exit(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave(status: int) -> None:
        assert status == 0
        raise Ended

    monkeypatch.setattr(trials.os, "_exit", leave)


def written(folder: Path) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((folder / TIMES_FILE).read_text())
    return body


def nothing() -> Nothing:
    made = Nothing(0)
    made.install()
    return made


def test_the_process_that_compares_reads_what_a_trial_wrote(tmp_path: Path) -> None:
    trial = TrialRun(tmp_path, nothing(), 3)
    for second in (1, 2):
        trial.count(second * 10**9, 1.0)
    trial.write()
    times = read_times(tmp_path / TIMES_FILE, 0, tmp_path / "output.txt")
    assert (times.ended_seconds.tolist(), times.batches.tolist()) == ([0.0, 1.0], [1.0, 1.0])


def test_the_last_step_ends_the_program(tmp_path: Path) -> None:
    trial = TrialRun(tmp_path / "logs", nothing(), 3)
    trial.count(1_000, 1.0)
    trial.count(2_000, 1.0)
    with pytest.raises(Ended):
        trial.count(3_000, 1.0)
    assert written(tmp_path / "logs") == {
        "reason": "",
        "ended_ns": [1_000, 2_000, 3_000],
        "batches": [1.0, 1.0, 1.0],
    }


def test_batches_count_not_steps(tmp_path: Path) -> None:
    trial = TrialRun(tmp_path, nothing(), 20)
    trial.count(1_000, 10.0)
    with pytest.raises(Ended):
        trial.count(2_000, 10.0)


def test_long_steps_end_it_once_there_are_enough(tmp_path: Path) -> None:
    trial = TrialRun(tmp_path, nothing(), 1000)
    for number in range(24):
        trial.count(number * 10 * 10**9, 1.0)
    with pytest.raises(Ended):
        trial.count(240 * 10**9, 1.0)
    assert len(written(tmp_path)["ended_ns"]) == 25


def test_an_intervention_is_told_of_steps_and_says_where_it_had_no_effect(tmp_path: Path) -> None:
    changed = Changed()
    trial = TrialRun(tmp_path, changed, 100)
    trial.count(1_000, 1.0)
    trial.count(2_000, 1.0)
    trial.write()
    assert changed.seen == [1, 2]
    assert written(tmp_path)["reason"] == "there is nothing to change"
    changed.applied = 1
    trial.write()
    assert written(tmp_path)["reason"] == ""


def test_a_fork_writes_nothing(tmp_path: Path) -> None:
    trial = TrialRun(tmp_path, nothing(), 100)
    trial._process = os.getpid() + 1
    trial.write()
    assert list(tmp_path.iterdir()) == []


PROGRAM = """
from tb_slowdown_plugin.writer.launch.settings import Settings
from tb_slowdown_plugin.writer.launch import trial
import tensorflow as tf
import tbslow
trial.begin(Settings("{logdir}", experiment="{experiment}", steps=30))
tbslow.start("elsewhere")
for _ in range(100):
    with tbslow.summary.step():
        pass
raise SystemExit("it was not ended")
"""


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    ("experiment", "steps", "reason"),
    [
        ("as_it_is", 30, ""),
        ("gc_frozen", 30, ""),
        ("no_callbacks", 30, "`fit` is called without callbacks"),
    ],
)
def test_a_program_with_steps_of_its_own_is_followed(
    tmp_path: Path, root: Path, experiment: str, steps: int, reason: str
) -> None:
    pytest.importorskip("tensorflow")
    logdir = tmp_path / "trial"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(logdir=logdir, experiment=experiment)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "elsewhere").exists()
    body = written(logdir)
    assert (len(body["ended_ns"]), body["reason"]) == (steps, reason)
