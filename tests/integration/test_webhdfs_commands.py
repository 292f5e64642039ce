"""Commands and the tab on a WebHDFS server that refuses now and then: what hdfs:// is by REST."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from webhdfs_server import WebHdfs, serve_webhdfs

pytest.importorskip("requests", reason="fsspec's webhdfs needs it")

TAB = Path(__file__).parent / "remote_tab.py"
NAMES = ("gc_pauses", "late_worker", "slow_map_stage")


@pytest.fixture(scope="module")
def hdfs(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebHdfs]:
    folder = tmp_path_factory.mktemp("hdfs")
    for name in NAMES:
        shutil.copytree(root / "demo_logs" / name, folder / "logs" / name)
    with serve_webhdfs(folder, refuse_every=5) as server:
        yield server


def told(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def tbslow(*arguments: str) -> Any:
    return json.loads(told("-m", "tb_slowdown_plugin", *arguments, "--format", "json"))


def test_the_report_is_that_of_the_files_on_a_disk(hdfs: WebHdfs) -> None:
    remote = tbslow("report", f"{hdfs.address}/logs")
    assert [run["run"] for run in remote["runs"]] == list(NAMES)
    assert remote == tbslow("report", str(hdfs.root / "logs"))
    assert hdfs.refused > 0


def test_a_fleet_takes_unchanged_runs_from_its_tables(hdfs: WebHdfs, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    address, tables = f"{hdfs.address}/logs", str(tmp_path / "fleet.parquet")
    first = tbslow("fleet", address, "--workers", "1", "-o", tables)
    assert (first["runs"], first["unreadable"]) == (len(NAMES), 0)
    asked = hdfs.requests
    assert tbslow("fleet", address, "--workers", "1", "-o", tables) == first
    listings = 1 + len([each for each in (hdfs.root / "logs").rglob("*") if each.is_dir()])
    assert hdfs.requests - asked <= 2 * listings, "no file is opened"
    since = tbslow("fleet", address, "--workers", "1", "--since", "2999-01-01")
    assert since["runs"] == 0
    assert tbslow("fleet", address, "--workers", "1", "--since", "2020-01-01") == first


def test_the_tab_lists_and_reports(hdfs: WebHdfs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hdfs, "refuse_every", 0)  # TensorBoard asks once
    runs, report, _ = json.loads(told(str(TAB), f"{hdfs.address}/logs", "gc_pauses"))
    assert [run["run"] for run in runs["runs"]] == list(NAMES)
    (local,) = tbslow("report", str(hdfs.root / "logs"), "--run", "gc_pauses")["runs"]
    assert report["runs"][0]["headline"] == local["headline"]
