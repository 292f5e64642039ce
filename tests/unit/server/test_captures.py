"""Captures in the logdir: which there are, and why there may be none."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from tb_slowdown_plugin.server.captures import CaptureError, Captures, UnknownCaptureError

TIME = "2026_01_01_00_00_00"


@pytest.fixture
def run(source: Any) -> Any:
    return source.runs["run1"]


@pytest.fixture
def logdir(root: Path, tmp_path: Path) -> Path:
    session = tmp_path / "run1" / "plugins" / "profile" / TIME
    session.mkdir(parents=True)
    packed = root / "tests" / "unit" / "profiler" / "data" / "retrace.xplane.pb.gz"
    (session / "host.xplane.pb").write_bytes(gzip.decompress(packed.read_bytes()))
    return tmp_path


@pytest.mark.parametrize(
    ("logdir", "why"),
    [(None, "--logdir_spec"), ("", "--logdir_spec"), ("nosuch://logs", "the remote logdir can't")],
)
def test_without_a_local_logdir_it_says_why(run: Any, logdir: str | None, why: str) -> None:
    body = Captures(logdir).listing(run)
    assert body["captures"] == []
    assert body["status"]["status"] == "unavailable"
    assert why in body["status"]["reason"]


def test_a_capture_is_listed_and_opened_by_its_id(run: Any, logdir: Path) -> None:
    captures = Captures(str(logdir))
    (listed,) = captures.listing(run)["captures"]
    assert (listed["session"], listed["host"], listed["automatic"]) == (TIME, "host", None)
    assert listed["bytes"] > 1000
    opened = captures.capture(run, listed["id"], None, None)
    assert (opened["id"], opened["host"]) == (listed["id"], "host")
    assert "error" not in listed


def test_a_capture_that_is_not_there_is_refused(run: Any, logdir: Path) -> None:
    captures = Captures(str(logdir))
    (listed,) = captures.listing(run)["captures"]
    with pytest.raises(UnknownCaptureError, match="has no capture"):
        captures.capture(run, "none", None, None)
    with pytest.raises(UnknownCaptureError, match="has no host"):
        captures.capture(run, listed["id"], "elsewhere", None)


def test_a_broken_capture_is_listed_with_its_error(run: Any, logdir: Path) -> None:
    (file,) = logdir.rglob("*.xplane.pb")
    file.write_bytes(b"\xff" * 100)
    captures = Captures(str(logdir))
    (listed,) = captures.listing(run)["captures"]
    assert listed["error"]
    assert str(logdir) not in listed["error"]
    with pytest.raises(CaptureError):
        captures.capture(run, listed["id"], None, None)
