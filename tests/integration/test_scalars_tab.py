"""Runs without records in a real TensorBoard, under both of its loaders."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import event_files
import numpy as np
import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess
from scalar_files import STARTED, write_scalars

STEPS = 3000


def step_seconds(*, slower: bool) -> np.ndarray:
    noise = np.random.default_rng(5).normal(1.0, 0.05, STEPS)
    return 0.2 * noise * np.where(slower & (np.arange(STEPS) >= 1800), 1.5, 1.0)


def write_logs(logdir: Path) -> None:
    for name, slower in (("slower", True), ("flat", False)):
        time = STARTED + np.cumsum(step_seconds(slower=slower))
        write_scalars(logdir / name / "train", np.arange(STEPS), time)
        write_scalars(logdir / name / "validation", np.arange(0, STEPS, 500), time[::500])
    steps = event_files.make_steps(400)
    event_files.write_chunks(logdir / "recorded" / "slowdown", event_files.split(steps))
    write_scalars(logdir / "recorded", np.arange(400), STARTED + np.arange(400.0))
    write_scalars(logdir / "result", [100], [STARTED])


@pytest.fixture(scope="module", params=[*LOADERS, "spec"])
def board(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TensorBoardProcess]:
    folder = tmp_path_factory.mktemp("scalars")
    write_logs(folder / "logs")
    logdir = ["--logdir", str(folder / "logs")]
    if request.param == "spec":
        logdir = ["--logdir_spec", f"a:{folder / 'logs'}"]
    with TensorBoardProcess([*logdir, *LOADERS.get(request.param, [])], folder) as process:
        process.wait_until("the runs are read", lambda: len(process.runs()) == 4)
        process.wait_until(
            "their ends are read",
            lambda: all(run["last_step"] in (100, 399, 2999) for run in process.runs().values()),
        )
        yield process


def named(board: TensorBoardProcess, name: str) -> str:
    (found,) = [run for run in board.runs() if run.endswith(name)]
    return found


def test_they_are_listed_beside_runs_with_records(board: TensorBoardProcess) -> None:
    assert board.request("/data/plugins_listing").json["slowdown"]["enabled"]
    sources = {run.rpartition("/")[2]: one["source"] for run, one in board.runs().items()}
    assert sources.pop("result") == "scalars"
    assert sources == {"slower": "scalars", "flat": "scalars", "recorded": "records"}
    assert board.slowdown("runs").json["other_runs"] == 0


def test_a_result_is_no_training(board: TensorBoardProcess) -> None:
    (report,) = board.slowdown("report", run=named(board, "result")).json["runs"]
    assert (report["verdict"], report["steps"]) == ("not_enough_steps", 0)


def test_the_onset_is_found_in_the_points_that_tensorboard_keeps(
    board: TensorBoardProcess,
) -> None:
    run = named(board, "slower")
    (report,) = board.slowdown("report", run=run).json["runs"]
    assert (report["source"], report["verdict"]) == ("scalars", "slowdown")
    assert abs(report["scalars"]["onset_step"] - 1800) <= 0.05 * STEPS
    assert report["scalars"]["times_as_long"] == pytest.approx(1.5, rel=0.05)
    assert report["wall_seconds"] == pytest.approx(0.2 * (1800 + 1.5 * 1200), rel=0.02)
    # From now on the list has what was read.
    assert board.runs()[run]["steps"] == report["steps"]


def test_a_flat_run_is_healthy(board: TensorBoardProcess) -> None:
    (report,) = board.slowdown("report", run=named(board, "flat")).json["runs"]
    assert report["verdict"] == "healthy"


def test_every_route_answers(board: TensorBoardProcess) -> None:
    run = named(board, "slower")
    timeline = board.slowdown("timeline", run=run).json
    assert timeline["steps_per_row"] >= 1
    assert np.nanmean(timeline["step_seconds"]["mean"]) == pytest.approx(0.24, rel=0.05)
    assert {one["signal"] for one in timeline["unmeasured"]} >= {"retraces", "input_wait"}
    assert board.slowdown("retraces", run=run).status == 200
    assert board.slowdown("captures", run=run).status == 200
    rows = timeline["rows"]
    changed = board.slowdown("changed", run=run, first=int(0.7 * rows), last=rows - 1)
    assert changed.status == 200
    base, other = json.dumps([named(board, "flat")]), json.dumps([run])
    compared = board.slowdown("compare", base=base, runs=other).json
    assert compared["total"]["fraction"] == pytest.approx(0.2, abs=0.02)
    assert board.slowdown("report.html", run=run).status == 200
