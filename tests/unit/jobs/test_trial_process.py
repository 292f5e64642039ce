"""A trial's process: what it leaves behind, how it ends, and what it can't reach."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tb_slowdown_plugin.jobs.experiments import Times
from tb_slowdown_plugin.jobs.program_copy import ProgramCopy
from tb_slowdown_plugin.jobs.trial_process import TrialProcess, read_times
from tb_slowdown_plugin.records.trials import TIMES_FILE

LEAVE_TIMES = """
import json, os, pathlib
folder = pathlib.Path(os.environ["LOGDIR"])
folder.mkdir(parents=True, exist_ok=True)
(folder / "trial.json").write_text(json.dumps(
    {"reason": "", "ended_ns": [10**9, 2 * 10**9, 4 * 10**9], "batches": [1, 1, 2]}))
"""


def prepare(
    program: Sequence[str], experiment: str, logdir: str, environment: Mapping[str, str]
) -> tuple[list[str], dict[str, str]]:
    more = {"LOGDIR": logdir, "EXPERIMENT": experiment}
    return [sys.executable, *program], {**environment, **more}


def has_ended(process: int, most_seconds: float = 20.0) -> bool:
    """Whether it ends soon: the kernel takes a moment after SIGKILL."""
    end = time.monotonic() + most_seconds
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


class Folder:
    def __init__(self, path: Path) -> None:
        self.home = path / "home"
        self.home.mkdir()
        self.scratch = path / "scratch"
        self.scratch.mkdir()
        self.ticks = 0

    def process(self, text: str, *arguments: str) -> TrialProcess:
        (self.home / "program.py").write_text(text)
        program = ["program.py", *arguments]
        copy = ProgramCopy(program, self.home)
        return TrialProcess(program, prepare, self.scratch, copy, self.home, self._tick)

    def run(self, text: str, *arguments: str) -> Times:
        return self.process(text, *arguments).run("prefetch")

    def _tick(self) -> None:
        self.ticks += 1


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_times_come_back_and_nothing_is_left(folder: Folder) -> None:
    times = folder.run(LEAVE_TIMES)
    assert times.reason == ""
    assert times.ended_seconds.tolist() == [0.0, 1.0, 3.0]
    assert times.batches.tolist() == [1.0, 1.0, 2.0]
    assert list(folder.scratch.iterdir()) == []
    assert folder.ticks >= 1


def test_what_the_program_writes_is_not_in_its_own_directory(folder: Folder) -> None:
    (folder.home / "model.bin").write_bytes(b"mine")
    text = LEAVE_TIMES + (
        "import sys\n"
        "open('model.bin', 'w').write('other')\n"
        "open(os.path.dirname(os.path.abspath(__file__)) + '/log.txt', 'w').write('log')\n"
        "open(sys.argv[1] + '/out.txt', 'w').write('out')\n"
    )
    assert folder.run(text, str(folder.home)).reason == ""
    assert {each.name for each in folder.home.iterdir()} == {"model.bin", "program.py"}
    assert (folder.home / "model.bin").read_bytes() == b"mine"


def test_the_records_of_the_first_run_stay(folder: Folder, tmp_path: Path) -> None:
    folder.process(LEAVE_TIMES).run("as_it_is", tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []
    assert not (tmp_path / "kept" / TIMES_FILE).exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise ValueError('a wrong number')", "status 1: ValueError: a wrong number"),
        ("raise SystemExit(3)", "the program failed with status 3: it printed nothing"),
        ("input('name? ')", "status 1: EOFError: EOF when reading a line"),
        ("import os\nos.abort()", "the program failed with status -6"),
        ("print('done')", "the program ended without a step"),
        (LEAVE_TIMES + "raise ValueError('late')", "status 1: ValueError: late"),
    ],
    ids=["raises", "status", "stdin", "signal", "no steps", "late"],
)
def test_a_program_that_fails_says_why(folder: Folder, text: str, reason: str) -> None:
    times = folder.run(text)
    assert reason in times.reason
    assert len(times.ended_seconds) == 0


def test_a_program_that_hangs_is_ended_with_its_children(folder: Folder) -> None:
    text = (
        "import os, pathlib, subprocess, sys, time\n"
        "child = subprocess.Popen(['sleep', '600'])\n"
        "pathlib.Path(sys.argv[1]).write_text(str(child.pid))\n"
        "time.sleep(600)\n"
    )
    file = folder.scratch / "pid"
    process = folder.process(text, str(file))
    process.timeout_seconds = 5.0
    began = time.monotonic()
    assert process.run("prefetch").reason == "no end within 5 s"
    assert time.monotonic() - began < 60
    assert has_ended(int(file.read_text()))


def test_the_python_path_leads_into_the_copy(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder.home / "lib").mkdir()
    (folder.home / "lib" / "part.py").write_text("HERE = __file__\n")
    monkeypatch.setenv("PYTHONPATH", f"{folder.home}/lib{os.pathsep}/elsewhere")
    text = f"import part\nassert not part.HERE.startswith({str(folder.home)!r})\n" + LEAVE_TIMES
    assert folder.run(text).reason == ""


def test_a_damaged_file_of_times_is_no_step(tmp_path: Path) -> None:
    file, output = tmp_path / TIMES_FILE, tmp_path / "output.txt"
    output.write_text("x\n")
    for text in ("{", '{"reason": "", "ended_ns": [], "batches": []}'):
        file.write_text(text)
        assert read_times(file, 0, output).reason == "the program ended without a step"
    file.write_text(json.dumps({"reason": "no XLA", "ended_ns": [], "batches": []}))
    assert read_times(file, 0, output).reason == "no XLA"
