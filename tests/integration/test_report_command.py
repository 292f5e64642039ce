"""The command `tbslow` as a user or a script meets it."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from event_files import make_steps, rows_of, split, write_chunks

from tb_slowdown_plugin import __version__
from tb_slowdown_plugin.__main__ import main

COMMAND = [sys.executable, "-m", "tb_slowdown_plugin"]


def test_the_json_report_follows_the_contract(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(two_runs), "--format", "json"]) == 0
    out, err = capsys.readouterr()
    body = json.loads(out)
    assert err == ""
    assert body["schema"] == 1
    healthy, slow = body["runs"]
    assert (healthy["run"], healthy["verdict"], healthy["causes"]) == ("healthy", "healthy", [])
    assert (slow["run"], slow["verdict"]) == ("slow", "slowdown")
    assert slow["causes"][0]["cause"] == "garbage_collection"
    assert slow["causes"][0]["lost_seconds"] == pytest.approx(5.0, rel=0.05)
    for run in body["runs"]:
        explained = sum(cause["lost_seconds"] for cause in run["causes"])
        assert explained + run["unexplained_seconds"] == pytest.approx(run["lost_seconds"])
        assert run["steps"] == 400
        assert run["completeness"] == {"chunks": 2, "missing_chunks": 0, "gaps": []}


def test_the_text_report_names_the_cause(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(two_runs), "--run", "slow"]) == 0
    out, _ = capsys.readouterr()
    assert out.startswith("Run slow\n5 s of 25.0 s lost (20%) to garbage collection.")
    assert "1. Garbage collection: 5.0 s" in out
    assert "Run healthy" not in out
    assert "\x1b" not in out


def test_the_run_at_the_top_of_a_logdir_has_the_logdirs_name(
    two_runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Scripts go on calling it as TensorBoard does."""
    assert main(["report", str(two_runs / "slow")]) == 0
    assert capsys.readouterr().out.startswith("Run slow\n5 s of 25.0 s lost (20%)")
    assert main(["report", str(two_runs / "slow"), "--run", ".", "--format", "html"]) == 0
    page = capsys.readouterr().out
    assert "<title>Slowdown: slow</title>" in page
    assert "<noscript><pre>Run slow\n" in page
    assert '{"runs":[{"run":".","title":"slow","workers":1,' in page
    assert main(["report", str(two_runs / "slow"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["run"] == "."


def test_the_report_can_go_to_a_file(
    two_runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    assert main(["report", str(two_runs), "--format", "json", "-o", str(path)]) == 0
    assert capsys.readouterr() == ("", f"tbslow: written to {path}\n")
    assert len(json.loads(path.read_text())["runs"]) == 2


def test_a_cut_file_is_reported_with_a_note_and_status_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_chunks(tmp_path / "slowdown", split(make_steps(400), chunk_rows=100))
    path.write_bytes(path.read_bytes()[:-5])
    assert main(["report", str(tmp_path), "--format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["steps"] == 300
    (note,) = run["notes"]
    assert re.fullmatch(
        rf"event file slowdown/{path.name} ends in the middle of a record \(\d+ bytes "
        r"unreadable\): it is still being written, or its writer was stopped",
        note,
    )


def test_a_missing_chunk_is_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chunks = split(make_steps(400), chunk_rows=100)
    write_chunks(tmp_path / "slowdown", [chunks[0], *chunks[2:]])
    assert main(["report", str(tmp_path), "--format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    missing = run["completeness"]
    assert (missing["chunks"], missing["missing_chunks"]) == (3, 1)
    (gap,) = missing["gaps"]
    assert (gap["row"], gap["steps"]) == (100, 100)
    assert (gap["after_step"], gap["before_step"]) == (99, 200)


def test_a_run_without_a_step_yet_is_reported_as_such(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_chunks(tmp_path / "slowdown", split(rows_of(make_steps(1), 0, 0)))
    assert main(["report", str(tmp_path), "--format", "json"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert (run["verdict"], run["steps"]) == ("not_enough_steps", 0)


def test_the_module_runs_and_tells_its_version() -> None:
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"tbslow {__version__}\n"


def test_help_names_every_flag_and_exit_status() -> None:
    done = subprocess.run(
        [*COMMAND, "report", "--help"], capture_output=True, text=True, check=True
    )
    for word in ("LOGDIR", "--run", "--format", "--output", "--fail-over", "exit status"):
        assert word in done.stdout


def test_the_command_alone_says_what_there_is() -> None:
    done = subprocess.run([*COMMAND, "--help"], capture_output=True, text=True, check=True)
    for word in ("report", "compare", "share", "demo", "exit status", "unusable input"):
        assert word in done.stdout
    alone = subprocess.run(COMMAND, capture_output=True, text=True)
    assert alone.returncode == 2
    assert alone.stderr.startswith("tbslow: the following arguments are required: COMMAND")


def test_bad_input_leaves_a_process_with_status_2_and_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "report", str(tmp_path / "x")], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("tbslow: no such directory: ")
    assert "Traceback" not in done.stderr


def test_tensorflow_is_not_loaded_for_a_local_logdir(two_runs: Path) -> None:
    """Importing TensorFlow takes five seconds, and people who only look do not have it."""
    program = (
        "import sys\n"
        "from tb_slowdown_plugin.__main__ import main\n"
        f"assert main(['report', {str(two_runs)!r}]) == 0\n"
        "assert 'tensorflow' not in sys.modules\n"
        "assert 'tensorboard.compat.tensorflow_stub' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)


def test_a_closed_pipe_is_no_error(two_runs: Path) -> None:
    with subprocess.Popen(
        [*COMMAND, "report", str(two_runs)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 128 + signal.SIGPIPE


def test_ctrl_c_ends_it_without_a_traceback(
    two_runs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tb_slowdown_plugin.report.judged_runs.read_runs", interrupted)
    assert main(["report", str(two_runs)]) == 128 + signal.SIGINT
    assert capsys.readouterr() == ("", "")


def test_ascii_terminals_get_the_report_too(two_runs: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "report", str(two_runs)],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert b"Garbage collection" in done.stdout


def on_terminal(*arguments: str, **environment: str) -> str:
    """What the command draws on a terminal of its own."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [*COMMAND, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "COLUMNS": "90", **environment},
    ) as process:
        os.close(theirs)
        drawn = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # Linux says "input/output error" at the end of a terminal
                break
            if not piece:
                break
            drawn += piece
    os.close(ours)
    assert process.returncode == 0
    return drawn.decode()


def test_a_terminal_gets_colour_in_its_own_width_unless_told_otherwise(two_runs: Path) -> None:
    coloured = on_terminal("report", str(two_runs), NO_COLOR="")
    assert "\x1b[1mRun slow\x1b[0m" in coloured
    plain = [re.sub("\x1b\\[[0-9;]*m", "", line) for line in coloured.splitlines()]
    assert max(map(len, plain)) <= 90
    assert any(len(line) > 80 for line in plain)
    assert "\x1b" not in on_terminal("report", str(two_runs), NO_COLOR="1")
