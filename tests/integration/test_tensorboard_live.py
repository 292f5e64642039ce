"""While training runs, both loaders show our steps and the user's own charts, each up to date.

TensorBoard's Python loader follows only the newest event file of a directory, so a
monitor that wrote beside the user's file would freeze the user's charts.
"""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]
pytest.importorskip("tensorflow")

# loop, in the order in which they run -> (run of the user's chart, its tag)
CHARTS = {
    "custom": ("custom", "loss"),
    "idiom": ("idiom", "loss"),
    "keras": ("keras/train", "batch_loss"),
}
SEEN_STEPS = 50
"""Steps of the user's chart that must appear before and again after a first look."""


@dataclass
class Training:
    """The training process, and TensorBoard with each loader over its logdir."""

    process: subprocess.Popen[bytes]
    log: Path
    control: Path
    boards: dict[str, TensorBoardProcess]

    def reach(self, loop: str) -> None:
        """End the loops before it, which tests of their own do unless this one runs alone."""
        for before in itertools.takewhile(lambda name: name != loop, CHARTS):
            (self.control / before).touch()

    def stop(self, loop: str) -> int:
        """End a loop; the number of steps that it made."""
        (self.control / loop).touch()
        written = self.control / f"{loop}.steps"
        board = next(iter(self.boards.values()))
        board.wait_until(f"the loop '{loop}' has ended", lambda: self.ended() or written.exists())
        assert written.exists(), self.log.read_text()
        return int(written.read_text())

    def ended(self) -> bool:
        return self.process.poll() is not None


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Training]:
    folder = tmp_path_factory.mktemp("live")
    logdir, control = folder / "logs", folder / "control"
    logdir.mkdir()
    control.mkdir()
    program = Path(__file__).parent / "live_training.py"
    with ExitStack() as stack:
        log = stack.enter_context((folder / "training.log").open("wb"))
        process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, str(program), str(logdir), str(control)],
                cwd=folder,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        )
        stack.callback(process.kill)
        boards = {}
        for loader, flags in LOADERS.items():
            (folder / loader).mkdir()
            board = TensorBoardProcess(["--logdir", str(logdir), *flags], folder / loader)
            boards[loader] = stack.enter_context(board)
        yield Training(process, folder / "training.log", control, boards)


def steps_read(board: TensorBoardProcess, loop: str) -> int:
    return int(board.runs().get(loop, {}).get("steps", 0))


def last_charted(board: TensorBoardProcess, loop: str) -> int:
    points = board.scalar(*CHARTS[loop])
    return int(points[-1][1]) if points else -1


def see_both_grow(training: Training, board: TensorBoardProcess, loop: str) -> None:
    charted, steps = last_charted(board, loop), steps_read(board, loop)
    board.wait_until(
        f"the chart of '{loop}' grows beyond step {charted}",
        lambda: training.ended() or last_charted(board, loop) >= charted + SEEN_STEPS,
    )
    board.wait_until(
        f"more than {steps} of our steps of '{loop}' are read",
        lambda: training.ended() or steps_read(board, loop) > steps,
    )
    assert not training.ended(), training.log.read_text()
    assert board.runs()[loop]["live"]


def see_all(board: TensorBoardProcess, loop: str, made: int) -> None:
    board.wait_until(
        f"all {made} steps of '{loop}' are read", lambda: steps_read(board, loop) == made
    )
    (report,) = board.slowdown("report", run=loop).json["runs"]
    assert report["steps"] == made
    assert report["completeness"]["missing_chunks"] == 0


@pytest.mark.parametrize("loop", list(CHARTS))
def test_charts_and_steps_are_live_and_then_complete(training: Training, loop: str) -> None:
    training.reach(loop)
    for _ in ("at first", "and still"):
        for board in training.boards.values():
            see_both_grow(training, board, loop)
    made = training.stop(loop)
    for board in training.boards.values():
        see_all(board, loop, made)
