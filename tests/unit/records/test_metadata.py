"""What people call a run: the one at the top of a logdir is called as the logdir."""

from __future__ import annotations

from pathlib import Path

import pytest

from tb_slowdown_plugin.records.metadata import (
    run_title,
)


@pytest.mark.parametrize(
    ("run", "logdir", "title"),
    [
        ("run1", "logs", "run1"),
        ("a/b", None, "a/b"),
        (".", "logs/run1", "run1"),
        (".", "logs/run1/", "run1"),
        (".", "logs/run1/.", "run1"),
        (".", "/", "this run"),
        (".", "", "this run"),
        (".", None, "this run"),
        (".", "gs://bucket/logs/run1", "run1"),
        (".", "gs://bucket/logs/", "logs"),
        (".", "gs://bucket", "bucket"),
        (".", "gs://", "this run"),
    ],
)
def test_the_run_at_the_top_has_the_name_of_the_logdir(run, logdir, title):
    assert run_title(run, logdir) == title


def test_the_working_directory_has_a_name_too(tmp_path: Path, monkeypatch):
    (tmp_path / "vit" / "sub").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "vit")
    assert run_title(".", ".") == "vit"
    monkeypatch.chdir(tmp_path / "vit" / "sub")
    assert run_title(".", "..") == "vit"
    monkeypatch.setenv("HOME", str(tmp_path / "vit"))
    assert run_title(".", "~") == "vit"
