"""A guarded directory stays as it is, whatever Python function would change it; reading goes on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tb_slowdown_plugin.writer.launch.settings import Settings
from tb_slowdown_plugin.writer.launch.write_guard import WriteGuard, guard_of

PROGRAM = """
import os, pathlib, shutil, sys
from tb_slowdown_plugin.writer.launch import write_guard
from tb_slowdown_plugin.writer.launch.settings import Settings
mine, allowed, elsewhere = map(pathlib.Path, sys.argv[1:])
write_guard.install(Settings(guarded=str(mine), allowed=str(allowed)))
file = mine / "file.txt"
os.chdir(mine.parent)
folder = os.open(mine, os.O_RDONLY)
refused = [
    lambda: file.write_text("other"),
    lambda: file.open("a"),
    lambda: file.open("r+"),
    lambda: open(b"mine/new.txt", "wb"),
    lambda: os.open(file, os.O_WRONLY),
    lambda: file.unlink(),
    lambda: file.rename(elsewhere / "moved"),
    lambda: (elsewhere / "given").rename(file),
    lambda: os.replace(elsewhere / "given", file),
    lambda: (mine / "folder").rmdir(),
    lambda: (mine / "new").mkdir(),
    lambda: shutil.rmtree(mine),
    lambda: os.unlink("file.txt", dir_fd=folder),
    lambda: os.rename("file.txt", "other.txt", src_dir_fd=folder, dst_dir_fd=folder),
    lambda: os.mkdir("new", dir_fd=folder),
    lambda: shutil.copy(elsewhere / "given", mine),
    lambda: os.truncate(file, 0),
    lambda: os.chmod(file, 0),
    lambda: os.utime(file),
    lambda: (mine / "link").symlink_to(elsewhere),
    lambda: os.link(elsewhere / "given", mine / "link"),
    lambda: (elsewhere / "inside" / "new.txt").write_text("through a link"),
]
for number, act in enumerate(refused):
    try:
        act()
    except PermissionError as error:
        assert "tbslow try leaves it as it is" in str(error), error
    else:
        raise SystemExit(f"not refused: {number}")
assert file.read_text() == "mine"
os.makedirs(mine / "folder", exist_ok=True)
(allowed / "record").write_text("ours")
(elsewhere / "out.txt").write_text("out")
shutil.copy(file, elsewhere / "copy.txt")
print("done")
"""


def test_nothing_in_it_changes(tmp_path: Path, root: Path) -> None:
    mine, elsewhere = tmp_path / "mine", tmp_path / "elsewhere"
    allowed = mine / "tbslow-runs"
    for folder in (mine / "folder", allowed, elsewhere):
        folder.mkdir(parents=True)
    (mine / "file.txt").write_text("mine")
    (elsewhere / "given").write_text("given")
    (elsewhere / "inside").symlink_to(mine)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(mine), str(allowed), str(elsewhere)],
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "done\n", done.stderr
    assert {each.name for each in mine.iterdir()} == {"file.txt", "folder", "tbslow-runs"}
    assert (mine / "file.txt").read_text() == "mine"
    assert (elsewhere / "given").read_text() == "given"


@pytest.mark.parametrize("path", [3, None, "gs://bucket/x", "/ab/x", "/c/x", b"/ab"])
def test_what_is_not_below_it_passes(path: object) -> None:
    WriteGuard(["/a"], []).check(path)


@pytest.mark.parametrize("path", ["/a/x", "/a", b"/a/x", Path("/a/b/x"), "/a/b/../x"])
def test_what_is_below_it_is_refused(path: object) -> None:
    guard = guard_of(Settings(guarded="/a", allowed="/a/logs"))
    with pytest.raises(PermissionError):
        guard.check(path)
    guard.check("/a/logs/x")


def test_without_a_list_nothing_is_refused() -> None:
    guard_of(Settings()).check("/a")
