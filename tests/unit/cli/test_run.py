"""The flags of `tbslow run` end where the program begins."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.__main__ import main
from tb_slowdown_plugin.cli.run import split


def test_our_flags_and_those_of_the_program_are_told_apart() -> None:
    settings, program = split(
        ["--logdir", "logs/a", "--step=train_step", "--profile-on-slowdown", "train.py", "--quiet"]
    )
    assert program == ["train.py", "--quiet"]
    assert (settings.logdir, settings.step) == ("logs/a", "train_step")
    assert (settings.profile, settings.quiet) == (True, False)


def test_a_module_takes_all_that_follows() -> None:
    settings, program = split(["--quiet", "-m", "pkg.train", "--logdir", "x"])
    assert program == ["-m", "pkg.train", "--logdir", "x"]
    assert (settings.logdir, settings.quiet) == ("", True)


def test_a_script_whose_name_begins_with_a_dash_comes_after_two() -> None:
    assert split(["--", "-odd.py", "a"])[1] == ["-odd.py", "a"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no program to run; see 'tbslow run --help'"),
        (["--quick"], "unrecognized arguments: --quick; see 'tbslow run --help'"),
        (["--logdir"], "--logdir needs a value; see 'tbslow run --help'"),
        (["--step="], "--step needs a value; see 'tbslow run --help'"),
        (["-m"], "-m needs a module; see 'tbslow run --help'"),
    ],
)
def test_wrong_flags_are_refused_in_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr() == ("", f"tbslow: {said}\n")


def test_help_lists_the_flags(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--help"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    for flag in ("--logdir", "--step", "--profile-on-slowdown", "--quiet"):
        assert flag in out
