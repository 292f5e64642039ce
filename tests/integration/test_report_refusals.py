"""What `tbslow report` says of bad input: one line on stderr, status 2."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from event_files import make_steps, scalar_event, split, write_chunks, write_events
from integration.command_line import refusal


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            ["report", "LOGDIR/nope"],
            "no such directory: 'LOGDIR/nope'; give the logdir that training wrote to",
        ),
        (
            ["report", "LOGDIR", "--run", "slwo"],
            "'LOGDIR' has no run 'slwo'; it has 'slow', 'healthy'",
        ),
        (
            ["report", "LOGDIR", "-o", "LOGDIR/no/file"],
            "can't write 'LOGDIR/no/file': No such file or directory; "
            "give a file in a directory that exists",
        ),
        (
            ["report"],
            "the following arguments are required: LOGDIR; see 'tbslow report --help'",
        ),
        (
            ["report", "LOGDIR", "--frmat", "json"],
            "unrecognized arguments: --frmat json; see 'tbslow --help'",
        ),
        *(
            (
                ["report", "LOGDIR", "--fail-over", given],
                f"argument --fail-over: '{given}': expected a number from 0 to 100; "
                "see 'tbslow report --help'",
            )
            for given in ("much", "nan")
        ),
    ],
)
def test_bad_input(
    two_runs: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], expected: str
) -> None:
    given = [argument.replace("LOGDIR", str(two_runs)) for argument in arguments]
    error = refusal(capsys, *given)
    assert error == expected.replace("'LOGDIR", f"'{two_runs}")


@pytest.mark.parametrize("arguments", [["reprt", "x"], ["report", "x", "--format", "xml"], []])
def test_an_unknown_command_or_format_says_where_help_is(
    capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    error = refusal(capsys, *arguments)
    assert "; see 'tbslow" in error


def test_a_page_is_not_drawn_on_a_terminal(
    two_runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert refusal(capsys, "report", str(two_runs), "--format", "html") == (
        "HTML output needs a file: add -o report.html"
    )


def test_a_logdir_without_slowdown_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_events(tmp_path / "train", [scalar_event("loss", 0, 1.0)])
    assert refusal(capsys, "report", str(tmp_path)) == (
        f"'{tmp_path}' has no slowdown data; train with tbslow run --logdir, tbslow.start(...), or "
        "tbslow.keras.SlowdownCallback(...) writing there"
    )


def test_a_logdir_of_which_nothing_is_readable(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(10)))
    path.write_bytes(b"\x00" * 100)
    assert refusal(capsys, "report", str(tmp_path)) == (
        f"'{tmp_path}' has no readable slowdown data: event file slowdown/{path.name} is no event "
        "file (100 bytes unreadable)"
    )


def test_a_name_with_control_characters_cannot_steer_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert "'/no\\x1b[2Jwhere'" in refusal(capsys, "report", "/no\x1b[2Jwhere")
