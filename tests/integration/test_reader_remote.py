"""Logdirs on storage that only TensorBoard's own layer can read: fsspec, and TensorFlow's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from event_files import chunk_event, make_steps, scalar_event, split, write_chunks, write_events
from tensorboard_loader import TensorBoard, append, same
from unit.profiler.real_captures import MI300
from unit.profiler.real_captures import write as write_capture

from tb_slowdown_plugin.reader.logdir import read_runs

PROGRAM = Path(__file__).parent / "remote_logdir.py"


def fill(logdir: Path) -> None:
    slow = make_steps(1200, seed=1)
    slow.period_seconds[600:] += 0.1
    write_chunks(logdir / "run1" / "slowdown", split(slow))
    folder = logdir / "run2" / "slowdown"
    write_chunks(folder, split(make_steps(300), session="aaaa"))
    write_chunks(folder / "worker-1", split(make_steps(300), session="bbbb"))
    write_events(logdir / "run1", [scalar_event("loss", 0, 1.0)])
    write_capture(MI300, logdir / "run1")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    pytest.importorskip("fsspec")
    logdir = tmp_path_factory.mktemp("logs")
    fill(logdir)
    done = subprocess.run(
        [sys.executable, str(PROGRAM), str(logdir)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_command_reads_an_fsspec_address_as_it_reads_a_folder(found: Any) -> None:
    assert [run["run"] for run in found["local"]["runs"]] == ["run1", "run2"]
    assert found["local"]["runs"][0]["steps"] == 1200
    assert found["memory"] == found["local"]


def test_the_tab_reads_an_fsspec_address(found: Any) -> None:
    for run in found["local"]["runs"]:
        (served,) = found["tab"][run["run"]]["runs"]
        assert served == run


def test_the_tab_lists_the_captures_of_a_remote_logdir(found: Any) -> None:
    assert found["captures"]["status"] == {"status": "measured", "reason": ""}
    (capture,) = found["captures"]["captures"]
    assert capture["bytes"] > 10_000
    assert "error" not in capture


def test_late_storage_changes_nothing_that_is_told(found: Any) -> None:
    assert found["late"] == found["local"]


def test_requests_are_answered_while_the_storage_does_not_answer(found: Any) -> None:
    listed, report = found["while it hangs"]
    assert [run["steps"] for run in listed["runs"]] == [1200, 300]
    assert report["runs"] == [found["local"]["runs"][1]]


def test_an_address_without_data_and_one_that_nothing_can_open(found: Any) -> None:
    assert found["none"].startswith("tbslow: 'memory://elsewhere' has no slowdown data")
    assert found["unknown"].startswith("tbslow: can't read 'nosuch://logs': ")
    assert found["unknown"].count("\n") == 1
    assert "copy the folder" in found["unknown"]


@pytest.mark.tensorflow
def test_an_address_that_tensorflow_opens(tmp_path: Path) -> None:
    """ram:// is TensorFlow's own; gs:// and s3:// (with tensorflow-io) go the same way."""
    tf = pytest.importorskip("tensorflow")
    fill(tmp_path)

    def upload() -> None:
        for path in tmp_path.rglob("*tfevents*"):
            target = f"ram://logs/{path.relative_to(tmp_path).as_posix()}"
            tf.io.gfile.makedirs(target.rpartition("/")[0])
            tf.io.gfile.copy(str(path), target, overwrite=True)

    upload()
    local = {run.name: run for run in read_runs(str(tmp_path), warn=pytest.fail)}
    remote = {run.name: run for run in read_runs("ram://logs", warn=pytest.fail)}
    assert list(remote) == list(local) == ["run1", "run2"]
    for name, run in local.items():
        same(remote[name], run)
    board = TensorBoard("ram://logs")
    assert len(board.catalogue.run("run1").steps) == 1200
    # TensorBoard reads on where the file had ended.
    (path,) = (tmp_path / "run1" / "slowdown").iterdir()
    append(path, [chunk_event(split(make_steps(1300), cuts=[256, 512, 768, 1024, 1200])[5])])
    upload()
    board.reload()
    assert len(board.catalogue.run("run1").steps) == 1300
