"""The other ways to start TensorBoard: several logdirs, a path prefix, sampling by the user."""

from __future__ import annotations

from pathlib import Path

import event_files
import pytest
from integration.tensorboard_process import LOADERS, TensorBoardProcess


def write_run(folder: Path, steps: int, session: str) -> None:
    event_files.write_chunks(
        folder / "slowdown",
        event_files.split(event_files.make_steps(steps), session=session, chunk_rows=10),
    )


def test_several_logdirs(tmp_path: Path) -> None:
    write_run(tmp_path / "a" / "run1", 40, "aaaa")
    write_run(tmp_path / "b", 60, "bbbb")
    spec = f"first:{tmp_path / 'a'},second:{tmp_path / 'b'}"
    with TensorBoardProcess(["--logdir_spec", spec], tmp_path) as process:
        process.wait_until("both are read", lambda: len(process.runs()) == 2)
        runs = process.runs()
        assert {name: run["steps"] for name, run in runs.items()} == {
            "first/run1": 40,
            "second": 60,
        }
        (report,) = process.slowdown("report", run="first/run1").json["runs"]
        assert report["steps"] == 40


@pytest.mark.parametrize("loader", list(LOADERS))
def test_a_path_prefix(tmp_path: Path, loader: str) -> None:
    write_run(tmp_path / "logs" / "run1", 40, "aaaa")
    arguments = ["--logdir", str(tmp_path / "logs"), *LOADERS[loader]]
    with TensorBoardProcess(arguments, tmp_path, path_prefix="/team/board") as process:
        process.wait_until("the run is read", lambda: "run1" in process.runs())
        assert process.request("/data/plugin/slowdown/index.js").status == 200
        (report,) = process.slowdown("report", run="run1").json["runs"]
        assert report["steps"] == 40


@pytest.mark.parametrize("loader", list(LOADERS))
def test_samples_that_the_user_asks_for_are_what_is_kept(tmp_path: Path, loader: str) -> None:
    """Then records are missing, and the report says how many."""
    write_run(tmp_path / "logs" / "run1", 320, "aaaa")
    arguments = ["--logdir", str(tmp_path / "logs"), *LOADERS[loader]]
    with TensorBoardProcess([*arguments, "--samples_per_plugin=slowdown=2"], tmp_path) as process:
        process.wait_until("the run is read", lambda: "run1" in process.runs())
        (report,) = process.slowdown("report", run="run1").json["runs"]
        known = report["completeness"]
        assert (known["chunks"], known["missing_chunks"]) == (8, 24)
        assert sum(gap["steps"] for gap in known["gaps"]) <= 240
        assert report["steps"] == 80


def test_the_root_of_the_logdir_is_a_run(tmp_path: Path) -> None:
    write_run(tmp_path / "logs", 40, "aaaa")
    with TensorBoardProcess(["--logdir", str(tmp_path / "logs")], tmp_path) as process:
        process.wait_until("the run is read", lambda: "." in process.runs())
        (report,) = process.slowdown("report", run=".").json["runs"]
        assert report["steps"] == 40
        # TensorBoard calls it "."; people know it by the name of the directory.
        (listed,) = process.slowdown("runs").json["runs"]
        assert (listed["run"], listed["title"]) == (".", "logs")
        page = process.slowdown("report.html", run=".").body.decode()
        assert "<title>Slowdown: logs</title>" in page
        assert "<noscript><pre>Run logs\n" in page


def test_an_empty_logdir(tmp_path: Path) -> None:
    with TensorBoardProcess(["--logdir", str(tmp_path / "nothing")], tmp_path) as process:
        assert process.slowdown("runs").json == {"runs": [], "other_runs": 0}
        assert process.slowdown("report", run="run1").status == 404
        assert not process.request("/data/plugins_listing").json["slowdown"]["enabled"]
