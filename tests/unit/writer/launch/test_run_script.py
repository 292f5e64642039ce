"""How the program of `tbslow run` is started: its flags, its logdir, its environment."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.writer.launch import run_script as module
from tb_slowdown_plugin.writer.launch.run_script import (
    check_logdir,
    choose_logdir,
    run_script,
    split_arguments,
)
from tb_slowdown_plugin.writer.launch.settings import Settings, take_from

NOW = time.gmtime(0)


@pytest.mark.parametrize(
    ("original", "flags"),
    [
        (["-m", "tb_slowdown_plugin", "run", "x"], []),
        (["-Om", "tb_slowdown_plugin", "run"], ["-O"]),
        (["-mtb_slowdown_plugin", "run"], []),
        (["-W", "error", "bin/tbslow", "run"], ["-W", "error"]),
        (["-OX", "dev", "-Werror", "bin/tbslow", "run", "-q"], ["-OX", "dev", "-Werror"]),
        (["--check-hash-based-pycs", "never", "-u", "tbslow"],
         ["--check-hash-based-pycs", "never", "-u"]),
        (["-B", "mine.py", "train.py"], ["-B"]),
        (["-c", "run()", "-m"], []),
    ],
    ids=["module", "flag and module", "in one word", "script", "together", "long", "wrapper",
         "code"],
)  # fmt: skip
def test_flags_of_this_python_are_those_of_the_program(original, flags) -> None:
    """Not a program that has called the command: it would be started again and again."""
    assert split_arguments(["python", *original])[0] == flags


@pytest.mark.parametrize(
    ("original", "program"),
    [
        (["-O", "-X", "dev", "train.py", "--epochs", "3"], ["train.py", "--epochs", "3"]),
        (["-m", "package.train", "-m"], ["-m", "package.train", "-m"]),
        (["-Om", "package.train"], ["-m", "package.train"]),
        (["-mpackage.train", "x"], ["-m", "package.train", "x"]),
        (["--check-hash-based-pycs", "always", "train.py"], ["train.py"]),
        (["-Wignore", "train.py"], ["train.py"]),
        (["-c", "pass"], []),
        (["-", "x"], []),
        ([], []),
    ],
)
def test_the_program_is_what_is_left(original, program) -> None:
    assert split_arguments(["python", *original])[1] == program


def test_a_logdir_that_is_there_is_not_taken_again(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    first = choose_logdir(["train.py"], NOW)
    Path(first).mkdir(parents=True)
    assert choose_logdir(["train.py"], NOW) == f"{first}-2"


def test_the_process_is_replaced_by_the_program(tmp_path, monkeypatch) -> None:
    replaced = []
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", "/mine")
    monkeypatch.setattr(os, "execve", lambda *given: replaced.append(given))
    run_script(["train.py", "--fast"], Settings(shown="", logdir="logs/a"))
    ((python, command, environment),) = replaced
    assert (python, command[0], command[-2:]) == (
        sys.executable, sys.executable, ["train.py", "--fast"],
    )  # fmt: skip
    boot, mine = environment["PYTHONPATH"].split(os.pathsep)
    assert (Path(boot) / "sitecustomize.py").is_file()
    assert (mine, environment["TBSLOW_RUN_PYTHONPATH"]) == ("/mine", "/mine")
    settings = take_from(environment)
    assert (settings.logdir, settings.shown) == (str(tmp_path / "logs" / "a"), "logs/a")


def test_a_logdir_that_is_a_file_or_below_one_is_refused_before_the_program_begins(tmp_path):
    file = tmp_path / "train.py"
    file.touch()
    for logdir in (file, file / "logs" / "a"):
        with pytest.raises(InputError) as error:
            check_logdir(Settings(shown="train.py", logdir=str(logdir)))
        assert str(error.value) == (
            f"no records can be written to train.py: {file} is no directory; give another --logdir"
        )


def test_a_logdir_that_can_t_be_made_is_refused_whatever_its_mode_says():
    with pytest.raises(InputError, match=r"no records can be written to logs: .*; give another"):
        check_logdir(Settings(shown="logs", logdir="/proc/logs/a", quiet=True))


def test_nothing_stays_of_a_logdir_that_is_not_there(tmp_path):
    check_logdir(Settings(shown="logs", logdir=str(tmp_path / "a" / "b" / "c"), quiet=True))
    assert list(tmp_path.iterdir()) == []


def test_no_directory_is_made_that_another_process_would_make_too(tmp_path, monkeypatch):
    made, make = [], os.mkdir

    def noted(path):
        made.append(os.path.relpath(path, tmp_path))
        make(path)

    monkeypatch.setattr(os, "mkdir", noted)
    check_logdir(Settings(shown="logs", logdir=str(tmp_path / "logs" / "a"), quiet=True))
    own = f".tbslow-{os.getpid()}"
    assert made == [own, f"{own}/logs", f"{own}/logs/a"]
    assert list(tmp_path.iterdir()) == []


def test_a_logdir_that_may_not_be_written_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: path != str(tmp_path))
    with pytest.raises(InputError, match=r"you may not write to .*; give another --logdir"):
        check_logdir(Settings(shown="logs", logdir=str(tmp_path / "logs" / "a")))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("quiet", "told"), [(False, True), (True, False)])
def test_records_that_are_there_are_told(tmp_path, capsys, quiet, told):
    settings = Settings(shown="logs", logdir=str(tmp_path), quiet=quiet)
    check_logdir(settings)
    (tmp_path / "slowdown").mkdir()
    check_logdir(settings)
    assert capsys.readouterr().err == ""
    (tmp_path / "slowdown" / "events.out.tfevents.1.aa").touch()
    check_logdir(settings)
    text = capsys.readouterr().err
    assert bool(text) == told
    assert not told or text.startswith("tbslow: logs has records already: this run goes on with")


def test_a_python_without_environment_is_refused(monkeypatch) -> None:
    class Flags:
        ignore_environment, no_site = 1, 0

    monkeypatch.setattr(module.sys, "flags", Flags())
    with pytest.raises(InputError, match="tbslow run works without them"):
        run_script(["train.py"], Settings())
