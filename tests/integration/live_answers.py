"""What a real `tensorboard` answers, each second, about trainings that turn 50% slower."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from integration.tensorboard_process import TensorBoardProcess
from report_checker import contradictions

from tb_slowdown_plugin.analysis.text.wording import duration, whole_percent

CAUSES = {
    "input": "input_pipeline",
    "retracing": "retracing",
    "callback": "callbacks",
    "python": "python_overhead",
}
"""Kind of slowdown in `slowing_training.py` -> the cause that is to be named."""
JUDGED_SECONDS = 20.0
NAMED_SECONDS = 45.0
"""After the change: from when on no answer is healthy, and until when the cause has a name."""
RELOAD = ["--reload_interval=5"]
"""As by default."""


@dataclass
class Watched:
    """One training, and each answer about it."""

    kind: str
    changed: float | None = None
    """Unix seconds."""
    answers: list[tuple[float, dict[str, Any]]] = field(default_factory=list)
    """(Unix seconds, report)."""

    @property
    def judged_seconds(self) -> float:
        """From the change to the last answer that did not say that the run is slower."""
        assert self.changed is not None
        others = [at for at, report in self.answers if report["verdict"] != "slowdown"]
        return max(others, default=self.changed) - self.changed

    @property
    def named_seconds(self) -> float:
        """From the change to the first answer with its cause; infinite without one."""
        assert self.changed is not None
        named = [
            at - self.changed
            for at, report in self.answers
            if at > self.changed and CAUSES[self.kind] in {c["cause"] for c in report["causes"]}
        ]
        return min(named, default=float("inf"))

    def contradictions(self) -> list[str]:
        """Answers whose figures do not agree with each other, or with those before."""
        found = []
        wall = 0.0
        for _, report in self.answers:
            if report["wall_seconds"] < wall:
                found.append(f"the wall falls from {wall} to {report['wall_seconds']}")
            wall = report["wall_seconds"]
            found += contradictions_in(report)
        return found


def contradictions_in(report: dict[str, Any]) -> list[str]:
    """What does not agree within one report."""
    found = contradictions(report)
    lost, wall = report["lost_seconds"], report["wall_seconds"]
    named = sum(cause["lost_seconds"] for cause in report["causes"])
    if abs(named + report["unexplained_seconds"] - lost) > 0.01 * lost + 1e-6:
        found.append(f"{named} + {report['unexplained_seconds']} is not {lost}")
    confirming = report["confirming"]
    if confirming and confirming["seconds"] > report["unexplained_seconds"] + 1e-6:
        found.append(f"{confirming['seconds']} of {report['unexplained_seconds']} are confirmed")
    headline = report["headline"]
    if " lost (" in headline and not headline.startswith(
        f"{duration(lost)} of {duration(wall)} lost ({whole_percent(lost / wall)})"
    ):
        found.append(f"{headline!r} of {lost} s in {wall} s")
    if headline.startswith("Healthy") and duration(wall) not in headline:
        found.append(f"{headline!r} in {wall} s")
    return found


def watch(
    kinds: Sequence[str],
    folder: Path,
    *,
    before_seconds: float,
    after_seconds: float,
    commands: Path | None = None,
) -> list[Watched]:
    """Trains each kind, all at once, and asks TensorBoard about each of them every second.

    Args:
      kinds: Of `CAUSES`.
      folder: For the logdir.
      before_seconds: How long they train before the change.
      after_seconds: How long they train after it.
      commands: Folder of the `tensorboard` to use.
    """
    program = Path(__file__).parent / "slowing_training.py"
    logdir = folder / "logs"
    logdir.mkdir(parents=True, exist_ok=True)
    found = [Watched(kind) for kind in kinds]
    seconds = [str(before_seconds), str(after_seconds)]
    with ExitStack() as stack:
        trainings = []
        for kind in kinds:
            log = stack.enter_context((folder / f"{kind}.log").open("wb"))
            command = [sys.executable, str(program), kind, str(logdir), *seconds]
            training = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
            stack.callback(training.wait)
            stack.callback(training.kill)
            trainings.append(training)
        where = {} if commands is None else {"commands": commands}
        board = stack.enter_context(
            TensorBoardProcess(["--logdir", str(logdir), *RELOAD], folder, **where)
        )
        while any(training.poll() is None for training in trainings):
            began = time.monotonic()
            for one in found:
                _ask(board, one, folder)
            time.sleep(max(0.0, 1.0 - (time.monotonic() - began)))
        failed = [kind for kind, one in zip(kinds, trainings, strict=True) if one.returncode]
        assert not failed, [(folder / f"{kind}.log").read_text() for kind in failed]
    return found


def _ask(board: TensorBoardProcess, one: Watched, folder: Path) -> None:
    marker = folder / f"{one.kind}.changed"
    if one.changed is None and marker.exists():
        one.changed = float(marker.read_text().split()[0])
    answer = board.slowdown("report", run=one.kind)
    if answer.status == 200:
        one.answers.append((time.time(), answer.json["runs"][0]))
