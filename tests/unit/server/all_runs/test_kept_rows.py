"""Verdicts in the cache directory: whole, of this version and this logdir, or none."""

from __future__ import annotations

import errno
import io
import json
from pathlib import Path
from typing import Any

import event_files
import pytest

from tb_slowdown_plugin.analysis.report_builder.account import account_for
from tb_slowdown_plugin.reader import whole_files
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import Environment, no_signals
from tb_slowdown_plugin.report.run_digest import RunDigest, digest_of
from tb_slowdown_plugin.server.all_runs.kept_rows import KeptRows


def digest() -> RunDigest:
    session = Session("0123abcd", 0, event_files.STARTED, 1, 0)
    steps = event_files.make_steps(40)
    environment = Environment(versions={"tensorflow": "2.21.0"})
    run = Run("a", steps, no_signals(), (), environment, (session,))
    return digest_of(run, account_for(run))


def test_what_was_written_is_read(tmp_path: Path) -> None:
    rows = {"a": ("(4, 6)", digest())}
    KeptRows(tmp_path / "new" / "cache", "/logs").write(rows)
    assert KeptRows(tmp_path / "new" / "cache", "/logs").read() == rows
    assert KeptRows(tmp_path / "new" / "cache", "/others").read() == {}


def test_what_another_version_wrote_or_a_crash_left_is_not_read(tmp_path: Path) -> None:
    kept = KeptRows(tmp_path, "/logs")
    kept.write({"a": ("(4, 6)", digest())})
    (file,) = tmp_path.iterdir()
    body = json.loads(file.read_text())
    file.write_text(json.dumps({**body, "made": "0 0.0.1"}))
    assert kept.read() == {}
    file.write_text(json.dumps(body)[:-40])
    assert kept.read() == {}
    file.write_text(json.dumps({**body, "runs": {"a": {"version": "1"}}}))
    assert kept.read() == {}


def test_a_directory_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept = KeptRows(tmp_path / "file", "/logs")
    kept.write({"a": ("(4, 6)", digest())})
    assert kept.read() == {}


def test_a_full_disk_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class FullDisk(io.FileIO):
        def write(self, content: Any) -> int:
            super().write(content[:10])
            raise OSError(errno.ENOSPC, "no space left on device")

    rows = {"a": ("(4, 6)", digest())}
    kept = KeptRows(tmp_path, "/logs")
    kept.write(rows)
    before = list(tmp_path.iterdir())
    monkeypatch.setattr(whole_files.os, "fdopen", FullDisk)
    kept.write({"a": ("(5, 7)", digest())})
    assert list(tmp_path.iterdir()) == before
    assert kept.read() == rows
