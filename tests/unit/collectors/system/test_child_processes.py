"""Processes that the program starts: what they compute, and which function they run."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.child_processes import (
    ChildProcesses,
    multiprocessing_children,
)
from tb_slowdown_plugin.records.types import Fact

pytestmark = pytest.mark.skipif(
    not Path(f"/proc/self/task/{os.getpid()}/children").exists(), reason="Linux lists none"
)
TICKS = os.sysconf("SC_CLK_TCK")


def feed():
    """What a child runs."""


class Feeder:
    pid = 7
    _target = None

    def run(self):
        """What a child of a class of its own runs."""


def stat(seconds):
    return b"7 (a (b) c) R" + b" 0" * 10 + f" {round(seconds * TICKS)} 0 0 0".encode()


@pytest.fixture
def collector(recording, tmp_path):
    """Of processes and files that a test sets."""

    def make(processes, files):
        set_files(tmp_path, files)
        made = ChildProcesses(lambda: processes, tmp_path)
        made.start(recording.context)
        return made

    return make


def set_files(root, files):
    for name, content in files.items():
        file = root / "proc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def told(recording):
    return [(each.subject, each.numbers["seconds"]) for each in recording.of(Fact)]


LISTED = f"self/task/{os.getpid()}/children"
HERE = "tests/unit/collectors/system/test_child_processes.py"


def test_seconds_of_a_child_count_when_it_has_ended_too(
    collector, recording, monkeypatch, root, tmp_path
):
    monkeypatch.chdir(root)
    files = {LISTED: b"7 8", "7/stat": stat(2), "8/stat": stat(1)}
    made = collector([SimpleNamespace(pid=7, _target=feed)], files)
    assert made.read() == {"child_cpu_seconds": 3.0}
    (tmp_path / "proc/7/stat").unlink()
    set_files(tmp_path, {LISTED: b"8", "8/stat": stat(1.5)})
    assert made.read() == {"child_cpu_seconds": 3.5}
    made.stop()
    line = feed.__code__.co_firstlineno
    assert told(recording) == [(f"feed ({HERE}:{line})", 2.0), ("", 1.0), ("", 1.5)]


def test_of_many_that_have_ended_only_their_sum_is_kept(collector, tmp_path):
    made = collector([], {LISTED: b""})
    for pid in range(7, 57):
        set_files(tmp_path, {LISTED: str(pid).encode(), f"{pid}/stat": stat(0.5)})
        made.read()
    assert made.read() == {"child_cpu_seconds": 25.0}
    assert (len(made._running), len(made._ended)) == (1, 1)


def test_a_class_of_processes_is_known_by_its_run(collector, recording):
    made = collector([Feeder()], {LISTED: b"", "7/stat": stat(1)})
    made.read()
    ((subject, _),) = told(recording)
    assert f":{Feeder.run.__code__.co_firstlineno})" in subject
    assert "run (" in subject


def test_without_children_nothing_is_told(collector, recording):
    made = collector([SimpleNamespace(pid=None, _target=feed)], {LISTED: b""})
    assert made.read() == {}
    made.stop()
    assert told(recording) == []


def test_a_kernel_that_lists_none_is_told(recording, tmp_path):
    with pytest.raises(Unavailable, match="does not list the children"):
        ChildProcesses(tuple, tmp_path).start(recording.context)


def test_real_children_are_found_and_not_reaped(recording):
    made = ChildProcesses()
    made.start(recording.context)
    compute = "import time\nend = time.time() + 0.3\nwhile time.time() < end: pass"
    child = subprocess.Popen([sys.executable, "-c", compute])
    seconds, until = 0.0, time.monotonic() + 20
    while seconds < 0.1 and time.monotonic() < until:
        seconds = made.read().get("child_cpu_seconds", 0.0)
        time.sleep(0.01)
    made.stop()
    assert seconds >= 0.1
    assert child.wait(20) == 0


def test_processes_of_multiprocessing_are_those_under_way():
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(20,))
    child.start()
    try:
        assert child in multiprocessing_children()
    finally:
        child.terminate()
        child.join()
    assert child not in multiprocessing_children()
