"""A program runs in a copy of its directory, and all that it is given leads there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs import program_copy
from tb_slowdown_plugin.jobs.program_copy import ProgramCopy, move_path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "train.py").write_text("print(1)\n")
    (folder / "data").mkdir()
    (folder / "data" / "one.bin").write_bytes(b"one")
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "copies"


def test_the_script_and_its_arguments_lead_into_the_copy(home: Path, target: Path) -> None:
    given = ["src/train.py", f"{home}/data", f"--out={home}/logs", "--rate=0.1", "data", "/etc"]
    program, current, copies = ProgramCopy(given, home).make(target)
    copy = copies[str(home)]
    assert current == Path(copy)
    assert program == [
        f"{copy}/src/train.py", f"{copy}/data", f"--out={copy}/logs", "--rate=0.1", "data", "/etc",
    ]  # fmt: skip
    assert (current / "data" / "one.bin").read_bytes() == b"one"


def test_what_is_written_in_the_copy_stays_there(home: Path, target: Path) -> None:
    _, current, _ = ProgramCopy(["src/train.py"], home).make(target)
    with (current / "data" / "one.bin").open("ab") as stream:
        stream.write(b" more")
    (current / "src" / "train.py").unlink()
    assert (home / "data" / "one.bin").read_bytes() == b"one"
    assert (home / "src" / "train.py").exists()


def test_a_module_keeps_its_name(home: Path, target: Path) -> None:
    program, current, _ = ProgramCopy(["-m", "src.train", "x"], home).make(target)
    assert program == ["-m", "src.train", "x"]
    assert (current / "src" / "train.py").exists()


def test_a_script_elsewhere_has_its_directory_copied_too(
    home: Path, target: Path, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    program, current, copies = ProgramCopy(["../home/src/train.py"], work).make(target)
    assert set(copies) == {str(work), str(home / "src")}
    assert current == Path(copies[str(work)])
    assert program == [copies[str(home / "src")] + "/train.py"]
    assert Path(program[0]).exists()


def test_links_lead_into_the_copy_where_they_can(home: Path, target: Path, tmp_path: Path) -> None:
    (home / "inside").symlink_to(home / "data")
    (home / "relative").symlink_to("data")
    (home / "outside").symlink_to(tmp_path)
    (home / "broken").symlink_to("nowhere")
    _, current, _ = ProgramCopy(["src/train.py"], home).make(target)
    assert (current / "inside").readlink() == current / "data"
    assert (current / "relative").resolve() == current / "data"
    assert (current / "outside").readlink() == tmp_path
    assert (current / "broken").is_symlink()


def test_packages_and_history_are_linked_and_earlier_runs_left_out(
    home: Path, target: Path
) -> None:
    for name in (".git", "venv", "tbslow-runs", "tbslow-try-x1", "src/__pycache__"):
        (home / name).mkdir()
        (home / name / "file").write_text("x")
    (home / "venv" / "pyvenv.cfg").write_text("")
    os.mkfifo(home / "pipe")
    _, current, _ = ProgramCopy(["src/train.py"], home).make(target)
    assert (current / ".git").readlink() == home / ".git"
    assert (current / "venv").readlink() == home / "venv"
    assert {each.name for each in current.iterdir()} == {"src", "data", ".git", "venv"}
    assert {each.name for each in (current / "src").iterdir()} == {"train.py"}


def test_patched_files_have_their_new_content_in_the_copy_only(home: Path, target: Path) -> None:
    script = home / "src" / "train.py"
    program, _, _ = ProgramCopy(["src/train.py"], home).make(target, {script: b"print(2)\n"})
    assert Path(program[0]).read_bytes() == b"print(2)\n"
    assert script.read_bytes() == b"print(1)\n"


@pytest.mark.parametrize("linked", [True, False])
def test_a_file_that_is_not_copied_is_not_patched(
    home: Path, target: Path, tmp_path: Path, linked: bool
) -> None:
    folder = home / "site-packages" if linked else tmp_path / "elsewhere"
    folder.mkdir()
    file = folder / "part.py"
    file.write_text("mine")
    with pytest.raises(InputError, match="its patch can't be tried"):
        ProgramCopy(["src/train.py"], home).make(target, {file: b"new"})
    assert file.read_text() == "mine"


def test_a_script_that_is_not_there_is_refused(home: Path) -> None:
    with pytest.raises(InputError, match=r"no such file: 'none\.py'"):
        ProgramCopy(["none.py"], home)


def test_a_directory_that_is_too_large_is_refused(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program_copy, "MAX_BYTES", 5)
    with pytest.raises(InputError, match=r"too much to copy for each run; .* --workdir DIR"):
        ProgramCopy(["src/train.py"], home)


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("/a/b/x", "/c/x"),
        ("/a/b", "/c"),
        ("/a/bc", "/a/bc"),
        ("--dir=/a/b/x", "--dir=/c/x"),
        ("key=/a/b", "key=/a/b"),
        ("/x:/a/b/lib", "/x:/c/lib"),
        ("file:///a/b", "file:///a/b"),
        ("", ""),
    ],
)
def test_paths_are_moved_and_other_text_is_not(text: str, moved: str) -> None:
    assert move_path(text, {"/a/b": "/c"}) == moved
