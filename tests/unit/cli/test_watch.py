"""`tbslow watch`: what it prints, what it refuses, and that trouble has one line."""

from __future__ import annotations

import io
from argparse import Namespace

import event_files
from unit.cli.refusals import refusal
from unit.jobs.looks import cause_of, look_of

from tb_slowdown_plugin.cli import watch as command
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.errors import InputError
from tb_slowdown_plugin.jobs.prometheus_export import Metrics


class Watched:
    """A watch whose looks a test gives: lists, or errors to raise."""

    rest_seconds = 5.0

    def __init__(self, *looks):
        self._looks = list(looks)

    def look(self):
        found = self._looks.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def test_once_prints_a_line_for_each_run(tmp_path, capsys):
    for name in ("run1", "run2"):
        chunks = event_files.split(event_files.make_steps(400, seconds=0.1))
        event_files.write_chunks(tmp_path / name / "slowdown", chunks)
    assert main(["watch", str(tmp_path), "--once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{name}: step 399, 100 ms per step, silent. Healthy. No slowdown found in 40.0 s."
        for name in ("run1", "run2")
    ]


def test_once_refuses_what_it_can_not_do(tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    assert "no such directory" in refusal(capsys, "watch", str(tmp_path / "gone"), "--once")
    assert "no slowdown data" in refusal(capsys, "watch", str(tmp_path / "empty"), "--once")
    both = refusal(capsys, "watch", str(tmp_path), "--once", "--exec", "true")
    assert both.startswith("--once prints and exits")


class Shown:
    """Keeps what it is to show; `fails` is raised in place of it."""

    def __init__(self, fails=None):
        self.looks, self.warnings, self._fails = [], [], fails

    def show(self, *given):
        if self._fails:
            raise self._fails
        self.looks.append(given)

    def warn(self, sentence):
        self.warnings.append(sentence)


def follow(*looks):
    display, sent = Shown(), []
    made = command._Follow(Watched(*looks), display, [sent.append], Metrics())
    for _ in looks:
        made.look()
    return display, sent


def test_each_finding_is_sent_once():
    found = [look_of(causes=(cause_of(),))]
    _, sent = follow([look_of()], found, found, [look_of()])
    assert [(notice.event, notice.cause) for notice in sent] == [
        ("found", "retracing"),
        ("withdrawn", "retracing"),
    ]


def test_trouble_has_one_line_and_the_last_state_stays_on_the_screen():
    gone = InputError("no such directory: 'logs'")
    display, _ = follow([look_of()], gone, gone, [look_of()], gone)
    assert display.warnings == ["no such directory: 'logs'; waiting for it"] * 2
    assert [len(looks) for looks, _, _ in display.looks] == [1, 1, 1, 1, 1]
    assert [bool(trouble) for _, _, trouble in display.looks] == [False, True, True, False, True]


def test_a_full_disk_under_stdout_has_one_line_and_watching_goes_on():
    display = Shown(fails=OSError(28, "No space left on device"))
    made = command._Follow(Watched([look_of()], [look_of()]), display, [], Metrics())
    made.look()
    made.look()
    assert display.warnings == [
        "can't write to stdout: No space left on device; the watch continues"
    ]


def test_a_pipe_gets_lines_and_no_escape_codes(tmp_path, monkeypatch):
    stdout = io.StringIO()
    monkeypatch.setattr("sys.stdout", stdout)
    chunks = event_files.split(event_files.make_steps(400, seconds=0.1))
    event_files.write_chunks(tmp_path / "run\x1b[2J" / "slowdown", chunks)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "_rest", interrupt)
    chosen = Namespace(logdir=str(tmp_path), once=False, exec=None, webhook=None, prometheus=None)
    assert command.watch(chosen) == 0
    (line,) = stdout.getvalue().splitlines()
    assert "run\\x1b[2J: step 399" in line
    assert "\x1b" not in line
