"""`tbslow compare`: which runs are on which side, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from many_runs import write_run

from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.cli.compare import _split


def repeats(root: Path, name: str, count: int) -> list[str]:
    return [str(root / "tests" / "repeats" / f"{name}{number}") for number in range(count)]


def test_two_groups_of_repeats_are_compared(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    base, more = repeats(root, "base", 3), repeats(root, "more", 3)
    assert main(["compare", "--base", *base, "--with", *more, "--format", "json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["base"], body["other"], body["outcome"]) == (base, more, "slower")
    total = body["total"]
    assert total["difference_seconds"] == total["with_seconds"] - total["base_seconds"]
    assert total["difference_seconds"] > 0.0005


def test_a_limit_that_is_passed_is_the_exit_status(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = ["--base", *repeats(root, "base", 3), "--with", *repeats(root, "more", 3)]
    assert main(["compare", *sides, "--fail-over", "5"]) == 3
    assert main(["compare", *sides, "--fail-over", "90"]) == 0
    capsys.readouterr()


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["A"], "1 run to compare; give two"),
        (["A", "B", "C"], "3 runs to compare"),
        ([], "nothing to compare"),
        (["A", "B", "--base", "C", "--with", "D"], "'A' can't be combined with --base and --with"),
    ],
)
def test_other_than_two_sides_are_refused(
    given: list[str], why: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *given]) == 2
    assert why in capsys.readouterr().err


def test_a_run_counts_once(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (one,) = repeats(root, "base", 1)
    (other,) = repeats(root, "more", 1)
    assert main(["compare", one, one]) == 2
    assert "is on both sides" in capsys.readouterr().err
    assert main(["compare", "--base", one, f"{one}/.", "--with", other]) == 2
    assert "is given twice" in capsys.readouterr().err


def test_a_colon_parts_the_run_from_the_logdir_unless_it_is_a_directory(tmp_path: Path) -> None:
    assert _split("logs:run1") == ("logs", "run1")
    assert _split("logs") == ("logs", None)
    assert _split("gs://bucket/logs") == ("gs://bucket/logs", None)
    assert _split("gs://bucket/logs:run1") == ("gs://bucket/logs", "run1")
    (tmp_path / "12:30").mkdir()
    assert _split(str(tmp_path / "12:30")) == (str(tmp_path / "12:30"), None)


def test_what_was_set_differently_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (write_run(tmp_path, number, steps=400) for number in (0, 1))
    sides = [f"{tmp_path}:{one}", f"{tmp_path}:{other}"]
    assert main(["compare", *sides, "--format", "json"]) == 0
    settings = json.loads(capsys.readouterr().out)["settings"]
    assert settings[:3] == [
        {"name": "batch_size", "base": "64", "other": "128"},
        {"name": "learning_rate", "base": "0.0003", "other": "0.001"},
        {"name": "tensorflow", "base": "2.21.0", "other": "2.20.0"},
    ]
    assert main(["compare", *sides]) == 0
    text = capsys.readouterr().out
    assert "\nbatch size: 64 before, 128 now.\nlearning rate: 0.0003 before, 0.001 now.\n" in text
    assert text.index("learning rate") < text.index("reading")
