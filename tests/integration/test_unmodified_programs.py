"""Programs that nobody changed: `tbslow run` finds what calls by hand would have found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from of_a_kind import few

pytest.importorskip("tensorflow")

from integration.published_programs import RUN, watched
from integration.training_host import TrainingHost

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.analysis.report_types.report import Report
from tb_slowdown_plugin.reader.logdir import read_runs

pytestmark = [pytest.mark.timed, pytest.mark.tensorflow, pytest.mark.slow]

FOLDER = Path(__file__).parent.parent / "unmodified"


@dataclass(frozen=True)
class Expected:
    """What is to come of a program."""

    steps: int
    cause: str
    rule: str | None
    status: int = 0


PROGRAMS = {
    "fit": Expected(160, "callbacks", "A step is one batch of fit (program.py:25)."),
    "train_on_batch": Expected(
        120, "retracing", "A step is one call of Sequential.train_on_batch (program.py:17)."
    ),
    "custom_loop": Expected(160, "retracing", "A step is one call of train_step (program.py:13)."),
    "gan_of_two_functions": Expected(
        180,
        "input_pipeline",
        "A step is one call of train_discriminator (program.py:28) and those of train_generator "
        "(program.py:39) after it.",
    ),
    "reinforcement": Expected(80, "retracing", "A step is one call of learn (program.py:15)."),
    "session": Expected(120, "graph_growth", "A step is one call of Session.run (program.py:27)."),
    "eager_loop": Expected(
        150, "checkpointing", "A step is one call of Adam.apply_gradients (program.py:19)."
    ),
    "mirrored": Expected(90, "input_pipeline", "A step is one call of train_step (program.py:27)."),
    "two_fits": Expected(
        180,
        "input_pipeline",
        "A step is one batch of fit (program.py:27); later one batch of fit (program.py:30).",
    ),
    "generator_input": Expected(
        120, "input_pipeline", "A step is one batch of fit (program.py:26)."
    ),
    "updates_by_hand": Expected(
        120, "retracing", "A step is one call of assign_sub (program.py:25)."
    ),
    "models_in_turn": Expected(
        160, "input_pipeline", "A step is one call of train_step (program.py:24)."
    ),
    "own_steps": Expected(100, "checkpointing", None),
    "raises": Expected(
        90, "retracing", "A step is one call of train_step (program.py:19).", status=1
    ),
}


def report_of(logdir: Path) -> Report:
    (run,) = read_runs(str(logdir), warn=lambda _: None)
    return account_for(run).report


def first_cause(report: Report) -> str:
    """The largest loss that is the program's own doing, besides the start."""
    causes = [each.cause for each in report.causes if not each.external]
    return next((cause for cause in causes if cause != "warm_up"), "")


def start(folder: Path, root: Path, *command: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": str(root)}
    return subprocess.Popen(
        [sys.executable, *command], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.parametrize(
    "name",
    few(PROGRAMS, "fit"),
)
def test_a_program_is_judged_as_with_calls_by_hand(
    host: TrainingHost, tmp_path: Path, root: Path, name: str
) -> None:
    expected, text = PROGRAMS[name], (FOLDER / f"{name}.py").read_text()
    folders = [tmp_path / each for each in ("run", "plain", "by_hand")]
    for folder in folders:
        folder.mkdir()
        (folder / "program.py").write_text(watched(text) if folder is folders[2] else text)
    command = ("-m", "tb_slowdown_plugin", "run", "--logdir", "run-logs", "program.py")
    running = start(folders[0], root, *command)
    plain = host.run(RUN, folders[1])
    out, err = running.communicate()
    by_hand = host.run(RUN, folders[2])
    assert (out, running.returncode) == (plain.stdout, plain.returncode), err
    assert (by_hand.stdout, plain.returncode) == (out, expected.status), by_hand.stderr
    logdir = folders[0] / ("logs" if expected.rule is None else "run-logs")
    report, same = report_of(logdir), report_of(folders[2] / "logs")
    assert abs(report.steps - expected.steps) <= 0.02 * expected.steps
    assert report.step_rule == expected.rule
    assert (first_cause(report), first_cause(same)) == (expected.cause, expected.cause)
    assert report.verdict == same.verdict
    assert f"tbslow: {report.headline}" in err
    assert f"tbslow: To see more: tensorboard --logdir {logdir.name}" in err
    assert "tb_slowdown_plugin" not in err
    assert expected.status == 0 or plain.stderr.splitlines()[-1] in err


def test_the_report_in_json_has_the_rule(tmp_path: Path, root: Path) -> None:
    (tmp_path / "program.py").write_text((FOLDER / "raises.py").read_text())
    run = start(
        tmp_path,
        root,
        "-m",
        "tb_slowdown_plugin",
        "run",
        "--quiet",
        "--logdir",
        "logs",
        "program.py",
    )
    assert "tbslow:" not in run.communicate()[1]
    report = start(tmp_path, root, "-m", "tb_slowdown_plugin", "report", "logs", "--format", "json")
    (body,) = json.loads(report.communicate()[0])["runs"]
    assert body["step_rule"] == PROGRAMS["raises"].rule
