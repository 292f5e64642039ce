"""Whether a thread waits: in queues and locks, not in computation, and never in a package."""

from __future__ import annotations

import contextlib
import linecache
import os
import queue
import socket
import sys
import threading
import time
from unittest.mock import Mock

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.python.waiting import find_wait, read_call

pytestmark = pytest.mark.skipif(not read_call(threading.get_ident()), reason="Linux doesn't tell")


@contextlib.contextmanager
def thread_in(work, *arguments):
    thread = threading.Thread(target=work, args=arguments, daemon=True)
    thread.start()
    yield thread.ident
    thread.join(10)


def look(thread, wanted, seconds=5.0):
    """What is found, as soon as it is the wanted one, or at last."""
    until = time.monotonic() + seconds
    found = find_wait(thread, sys._current_frames)
    while found != wanted and time.monotonic() < until:
        found = find_wait(thread, sys._current_frames)
    return found


def test_a_queue_that_is_empty_is_waited_for():
    jobs = queue.Queue()

    def work():
        jobs.get()

    with thread_in(work) as thread:
        assert look(thread, "inside") == "inside"
        jobs.put(0)


def test_a_lock_in_a_line_of_the_program_is_waited_for():
    lock = threading.Lock()

    def work():
        with lock:
            pass

    lock.acquire()
    with thread_in(work) as thread:
        assert look(thread, "inside") == "inside"
        lock.release()


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("with self.lock:", "inside"),
        ("with lock, open(path) as file:", "inside"),
        ("with self._table_mutex():", "inside"),
        ("    state.acquire()", "inside"),
        ("with self.buffer_lock, pool:", "inside"),
        ("with self.dataLock:", "inside"),
        ("with self._rlock_2:", "inside"),
        ("with Semaphore():", "inside"),
        ('with open(blocks, "rb") as file:', "alone"),
        ("with budget(seconds=3), pool:", "alone"),
        ("with self.second_stage:", "alone"),
        ("with residual_block():", "alone"),
        ("with blocks[0].open() as file:", "alone"),
        ("result = solver.run()", "alone"),
    ],
)
def test_a_line_that_takes_a_lock_waits_for_its_holder(monkeypatch, line, found):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(linecache, "getline", lambda *_: line)
    frame = sys._getframe()
    call = ["202", "0x1", "0x80", "0x2", "0x0"]
    assert find_wait(1, lambda: {1: frame}, lambda _: call) == found


def test_a_thread_that_computes_waits_for_nobody():
    over = threading.Event()

    def work():
        while not over.is_set():
            sum(range(1000))

    with thread_in(work) as thread:
        found = [find_wait(thread, sys._current_frames) for _ in range(200)]
        over.set()
    assert found.count("inside") == 0
    # Where it hands the interpreter's lock over it sleeps; by one look each, 4 to 11 were seen.
    assert found.count("alone") <= 2


def test_one_look_tells_a_pause_however_short_it_is(monkeypatch):
    """Longer ones would be seen more often than they are there."""
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frame = sys._getframe()
    calls = iter([["230", "0x0", "0x0", "0x1", "0x1"], ["running"], ["running"]])
    assert find_wait(1, lambda: {1: frame}, lambda _: next(calls)) == "paused"
    assert next(calls) == ["running"], "one look"


def test_a_program_that_sleeps_is_seen_to_pause():
    over = threading.Event()

    def work():
        while not over.is_set():
            time.sleep(0.002)

    with thread_in(work) as thread:
        assert look(thread, "paused") == "paused"
        over.set()


def test_a_lock_that_is_held_for_less_than_the_looks_take_is_waited_for_briefly(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frame = sys._getframe()
    calls = iter([["202", "0x1", "0x80", "0x2", "0x0"], ["running"]])
    assert find_wait(1, lambda: {1: frame}, lambda _: next(calls)) == "briefly"


def test_a_package_that_waits_may_compute_in_threads_of_its_own():
    jobs = queue.Queue()
    space = {"__name__": "somewhere", "jobs": jobs}
    installed = "/usr/lib/site-packages/somewhere/pool.py"
    exec(compile("def work():\n    jobs.get()\n", installed, "exec"), space)
    with thread_in(space["work"]) as thread:
        assert look(thread, "inside", 0.3) == ""
        jobs.put(0)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        (["running"], ""),
        ([], ""),
        (["1", "0x1"], ""),
        (["75", "0x6"], "writing"),
        (["45", "0x6"], "outside"),
        (["202", "0x1", "0x80", "0x2", "0x7f01"], ""),
        (["202", "0x1", "0x80", "0x2", "0x0"], "alone"),
        (["230", "0x0", "0x0", "0x1", "0x1"], "paused"),
        (["61", "0x9"], "alone"),
    ],
    ids=[
        "computes",
        "not told",
        "prints",
        "writes",
        "receives",
        "interpreter's lock",
        "lock",
        "pause",
        "another process",
    ],
)
def test_the_call_of_linux_decides(monkeypatch, call, found):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frame = sys._getframe()
    assert find_wait(1, lambda: {1: frame}, lambda _: call) == found


def test_a_package_that_waits_for_a_connection_waits_for_another_process(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    space = {"__name__": "somewhere", "sys": sys}
    installed = "/usr/lib/site-packages/somewhere/pool.py"
    exec(compile("def frame():\n    return sys._getframe()\n", installed, "exec"), space)
    frame = space["frame"]()
    for call, found in ((["7"], "outside"), (["202", "0x1", "0x80", "0x2", "0x0"], "")):
        assert find_wait(1, lambda: {1: frame}, lambda _, call=call: call) == found


def test_what_is_read_tells_a_pipe_from_a_file(monkeypatch, tmp_path):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frame, (reading, writing) = sys._getframe(), os.pipe()
    with (tmp_path / "rows").open("wb") as file:
        for descriptor, found in ((reading, "outside"), (file.fileno(), "alone")):
            call = ["0", hex(descriptor)]
            assert find_wait(1, lambda: {1: frame}, lambda _, call=call: call) == found
    os.close(reading)
    os.close(writing)
    assert find_wait(1, lambda: {1: frame}, lambda _: ["0", hex(reading)]) == "alone"  # closed


def test_an_answer_of_a_socket_is_waited_for():
    here, there = socket.socketpair()

    def work():
        here.recv(1)

    with here, there, thread_in(work) as thread:
        assert look(thread, "outside") == "outside"
        there.send(b"1")


def test_a_thread_that_went_on_meanwhile_says_nothing(monkeypatch):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frames = iter([sys._getframe(), sys._getframe().f_back])
    assert find_wait(1, lambda: {1: next(frames)}, lambda _: ["230"]) == ""
    assert find_wait(1, dict) == ""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("return look(os.fsync (0))", "writing"),
        ("return look(db.commit())", "writing"),
        ("return look(sys.stdout.flush())", ""),
        ("return look(committed(0))", ""),
    ],
)
def test_a_line_that_writes_what_is_buffered_is_told_by_its_source(line, found):
    source = f"def frame(look, os, db, sys, committed):\n    {line}\n"
    name = f"<{line}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space = {}
    exec(compile(source, name, "exec"), space)
    anything = Mock()
    frame = space["frame"](lambda _: sys._getframe(1), anything, anything, anything, anything)
    assert find_wait(1, lambda: {1: frame}, lambda _: ["running"]) == found


@pytest.mark.parametrize(
    ("file", "found"), [("eager/execute.py", ""), ("lib/io/file_io.py", "writing")]
)
def test_where_tensorflow_runs_a_graph_linux_is_not_asked(monkeypatch, file, found):
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    frames = {}
    code = compile("keep(frame())", f"/lib/site-packages/tensorflow/python/{file}", "exec")
    exec(code, {"frame": lambda: sys._getframe(1), "keep": lambda frame: frames.update({1: frame})})
    assert find_wait(1, lambda: frames, lambda _: ["1", "0x7"]) == found


def test_a_library_that_writes_a_file_writes_whatever_it_computes(tmp_path):
    array, over = np.random.default_rng(0).normal(size=200_000), threading.Event()

    def save():
        while not over.is_set():
            np.savez_compressed(tmp_path / "page.npz", array=array)

    def copy():
        while not over.is_set():
            np.copy(array)

    for work, wanted in ((save, "writing"), (copy, "")):
        over.clear()
        with thread_in(work) as thread:
            assert look(thread, wanted) == wanted
            found = [find_wait(thread, sys._current_frames) for _ in range(20)]
            over.set()
        assert found.count("writing") == (20 if work is save else 0)
