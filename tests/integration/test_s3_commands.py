"""Commands and the tab on a real S3 protocol server that answers late and refuses now and then."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from s3_server import S3, serve_s3
from unit.profiler.real_captures import MI300
from unit.profiler.real_captures import write as write_capture

ADDRESS = "s3://bucket/logs"
TAB = Path(__file__).parent / "remote_tab.py"
NAMES = ("gc_pauses", "late_worker", "slow_map_stage")


class Both(NamedTuple):
    """The same runs on a disk and in a bucket."""

    logdir: Path
    s3: S3

    def told(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            env={**os.environ, **self.s3.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def tbslow(self, *arguments: str) -> Any:
        return json.loads(self.told("-m", "tb_slowdown_plugin", *arguments, "--format", "json"))


@pytest.fixture(scope="module")
def both(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    logdir = tmp_path_factory.mktemp("s3") / "logs"
    for name in NAMES:
        shutil.copytree(root / "demo_logs" / name, logdir / name)
    write_capture(MI300, logdir / "gc_pauses")
    # A file that ends early is told of as it is of a local one.
    (file,) = (logdir / "slow_map_stage" / "slowdown").glob("*tfevents*")
    file.write_bytes(file.read_bytes()[:-100])
    with serve_s3(delay_seconds=0.02, refuse_every=4) as s3:
        s3.put(logdir, "logs")
        yield Both(logdir, s3)


def test_the_report_is_that_of_the_files_on_a_disk(both: Both) -> None:
    local, remote = both.tbslow("report", str(both.logdir)), both.tbslow("report", ADDRESS)
    assert [run["run"] for run in remote["runs"]] == list(NAMES)
    assert remote == local
    assert any("ends in the middle of a record" in note for note in remote["runs"][2]["notes"])
    assert both.s3.refused()[0] > 0


def test_runs_are_compared(both: Both) -> None:
    pair = [f"{ADDRESS}:{name}" for name in NAMES[::2]]
    local = [f"{both.logdir}:{name}" for name in NAMES[::2]]
    remote, here = both.tbslow("compare", *pair), both.tbslow("compare", *local)
    assert remote["base"] == pair[:1]
    assert remote["total"] == here["total"]
    assert remote["terms"] == here["terms"]


def test_a_capture_is_read(both: Both) -> None:
    (remote,) = both.tbslow("trace", ADDRESS)["captures"]
    (local,) = both.tbslow("trace", str(both.logdir / "gc_pauses"))["captures"]
    place = "gc_pauses/plugins/profile/2026_01_01_00_00_00/vm.xplane.pb"
    assert remote.pop("file") == f"{ADDRESS}/{place}"
    assert local.pop("file") == str(both.logdir / place)
    assert remote == local


def test_the_tab_lists_reports_and_captures(both: Both) -> None:
    runs, report, captures = json.loads(both.told(str(TAB), ADDRESS, "gc_pauses"))
    assert [run["run"] for run in runs["runs"]] == list(NAMES)
    (local,) = both.tbslow("report", str(both.logdir), "--run", "gc_pauses")["runs"]
    assert report["runs"][0]["headline"] == local["headline"]
    assert captures["status"] == {"status": "measured", "reason": ""}
    (capture,) = captures["captures"]
    assert capture["session"] == "2026_01_01_00_00_00"
    assert "error" not in capture


def test_a_bucket_that_is_not_there_is_one_line(both: Both) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tb_slowdown_plugin", "report", "s3://nosuchbucket/logs"],
        env={**os.environ, **both.s3.environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "'s3://nosuchbucket/logs' has no slowdown data" in done.stderr
