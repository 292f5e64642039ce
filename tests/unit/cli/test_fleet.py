"""`tbslow fleet`: what it prints and writes, what it refuses, and its bar."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from event_files import make_steps, split, write_chunks
from thread_pool import ThreadPool
from unit.cli.refusals import refusal

from tb_slowdown_plugin.cli import fleet as command
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.cli.fleet import RunsBar


@pytest.fixture
def logdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(command, "ProcessPool", lambda workers, memory: ThreadPool(workers or 2))
    for name in ("vision/a", "nlp/b"):
        write_chunks(tmp_path / "logs" / name / "slowdown", split(make_steps(300)))
    return str(tmp_path / "logs")


def test_the_summary_as_text_json_and_page(logdir: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fleet", logdir]) == 0
    assert capsys.readouterr().out.startswith("Lost 0.0000 of 0.0167 run-hours (0%), in 2 runs.")
    assert main(["fleet", logdir, "--format", "json", "--team", "/(.)"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert (body["judged"], [row["team"] for row in body["by_team"]]) == (2, ["a", "b"])
    assert main(["fleet", logdir, "--format", "html"]) == 0
    assert capsys.readouterr().out.startswith("<!doctype html>")


def test_the_second_call_takes_runs_from_the_file(
    logdir: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fleet.parquet"
    assert main(["fleet", logdir, "-o", str(file), "--format", "json"]) == 0
    before, first = file.read_bytes(), capsys.readouterr().out

    class NoPool:
        def __init__(self, *args: object) -> None: ...

        def close(self) -> None: ...

    monkeypatch.setattr(command, "ProcessPool", NoPool)
    assert main(["fleet", logdir, "-o", str(file), "--format", "json"]) == 0
    assert (file.read_bytes(), capsys.readouterr().out) == (before, first)


def test_what_it_refuses(logdir: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such directory" in refusal(capsys, "fleet", f"{logdir}/nope")
    assert "--since 'soon'" in refusal(capsys, "fleet", logdir, "--since", "soon")
    assert "--team '('" in refusal(capsys, "fleet", logdir, "--team", "(")
    assert "leave it out" in refusal(
        capsys, "fleet", logdir, "--workers", "2", "--scheduler", "tcp://127.0.0.1:1"
    )
    (tmp_path / "mine.parquet").write_text("mine")
    (tmp_path / "mine.causes.parquet").write_text("mine")
    told = refusal(capsys, "fleet", logdir, "-o", str(tmp_path / "mine.parquet"))
    assert "isn't a file of tbslow fleet" in told


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_the_bar_says_how_long_the_others_take() -> None:
    terminal = Terminal()
    times = iter((0.0, 10.0, 10.1, 20.0))
    with RunsBar(terminal, clock=lambda: next(times)) as bar:
        bar.update(25, 100)
        bar.update(26, 100)  # too soon
        bar.update(50, 100)
    drawn = terminal.getvalue().split("\r")
    assert drawn[1] == "█████─────────────── 25 of 100 runs, 30.0 s left"
    assert drawn[2].startswith("██████████────────── 50 of 100 runs, 20.0 s left")
    assert drawn[3].strip() == ""


def test_no_bar_without_a_terminal() -> None:
    stream = io.StringIO()
    with RunsBar(stream) as bar:
        bar.update(1, 2)
    assert stream.getvalue() == ""
