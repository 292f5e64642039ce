"""`tbslow fix`: a diff on stdout that applies, sentences on stderr, and files that are written."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from unit.report.patches import defects

from tb_slowdown_plugin.analysis.report_types.causes import Advice
from tb_slowdown_plugin.cli import fix as command
from tb_slowdown_plugin.cli.command import main
from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.report.patches.finder import Fix

TEXT = "import gc\n\nfor x in data:\n    step(x)\n    gc.collect()\n"


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> defects.Program:
    made = defects.Program(tmp_path, TEXT, "garbage_collection")
    made.saw(Fact("gc_forced", "train.py:5", {"calls": 9.0}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(command, "read_runs", lambda *_, **__: iter([made.run]))
    monkeypatch.setattr(command, "account_for", lambda _: made)
    monkeypatch.setattr(defects.Program, "report", defects._report(made.cause), raising=False)
    return made


def test_the_diff_is_all_of_stdout(
    program: defects.Program, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["fix", "logs"]) == 0
    out, err = capfdbinary.readouterr()
    assert out.startswith(b"--- a/train.py\n+++ b/train.py\n@@ ")
    assert b"\n-    gc.collect()\n" in out
    assert b"Garbage collection, train.py:5: Remove `gc.collect()`" in err
    assert program.path.read_text() == TEXT


def test_apply_keeps_the_file_as_it_was_where_git_does_not(
    program: defects.Program, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fix", "logs", "--apply"]) == 0
    assert "train.py is changed; the file as it was is train.py.orig" in capfd.readouterr().err
    assert program.path.read_text() == TEXT.replace("    gc.collect()\n", "")
    assert (program.folder / "train.py.orig").read_text() == TEXT


def test_apply_needs_no_copy_of_what_is_committed(program: defects.Program) -> None:
    user = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["add", "."], [*user, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], cwd=program.folder, check=True)
    assert main(["fix", "logs", "--apply"]) == 0
    assert not (program.folder / "train.py.orig").exists()
    assert "gc.collect" not in program.path.read_text()


def test_a_changed_file_is_refused(
    program: defects.Program,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = program.run
    program.path.write_text(TEXT.replace("gc.collect()", "gc.collect(1)"))
    monkeypatch.setattr(defects.Program, "run", property(lambda _: run))
    assert main(["fix", "logs", "--apply"]) == 0
    out, err = capfd.readouterr()
    assert out == ""
    assert "train.py:5 has changed since the run" in err
    assert err.splitlines()[-1] == (
        "tbslow: there is no diff: nothing is on stdout, and `git apply` would have nothing to do"
    )
    assert "gc.collect(1)" in program.path.read_text()


def test_a_cause_that_the_run_does_not_have_is_refused(
    program: defects.Program, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["fix", "logs", "--cause", "disk"]) == 2
    assert "the run has no cause 'disk'; its causes: garbage_collection" in capfd.readouterr().err


def test_a_cause_without_a_line_to_change_is_left_out(
    program: defects.Program, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (cause,) = program.report.causes
    advice = Advice("Leave it as it is in a long run.")
    fixes = [Fix(cause, patches=(), refusals=(), example=advice)]
    monkeypatch.setattr(command, "find_fixes", lambda *_: fixes)
    assert main(["fix", "logs"]) == 0
    assert capfd.readouterr() == (
        "",
        "tbslow: no line is known that would change this run; the report says: "
        f"{program.report.headline}\n",
    )
