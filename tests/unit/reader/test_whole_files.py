"""A file is written as a whole, or stays as it was."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

import pytest

from tb_slowdown_plugin.reader.whole_files import replace_file


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_may_be_read_by_others(tmp_path):
    replace_file(tmp_path / "new.json", b"{}")
    assert (tmp_path / "new.json").read_bytes() == b"{}"
    assert mode_of(tmp_path / "new.json") == 0o644


def test_an_old_file_keeps_its_mode(tmp_path):
    file = tmp_path / "train.py"
    file.write_bytes(b"old")
    file.chmod(0o755)
    replace_file(file, b"new")
    assert (file.read_bytes(), mode_of(file)) == (b"new", 0o755)


def test_what_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    file = tmp_path / "train.py"
    file.write_bytes(b"old")

    def fail(_, __):
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="read-only"):
        replace_file(file, b"new")
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [("train.py", b"old")]
