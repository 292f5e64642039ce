"""Threads that poll, or compute for themselves, are added up with their line; no others are."""

from __future__ import annotations

import linecache
import queue
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from textwrap import indent
from types import CodeType

import numpy as np
import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.python.busy_threads import BusyThreads, asks
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact

FULL = queue.Queue(1)
FULL.put(1)


def poll(ended):
    while FULL.qsize() >= 1:
        if ended.is_set():
            return


def compute(ended):
    while not ended.is_set():
        np.linalg.svd(np.ones((300, 300)))


def wait(ended):
    ended.wait()


@contextmanager
def running(task):
    ended = threading.Event()
    thread = threading.Thread(target=task, args=(ended,))
    thread.start()
    try:
        yield thread
    finally:  # else a test that fails never ends
        ended.set()
        thread.join()


class Readings:
    """A collector read every second by a clock of the test, in which threads take what it says."""

    def __init__(self, recording, thread):
        self.now_ns = 0
        self.took_ns = 0
        recording.clock = Clock(monotonic_ns=lambda: self.now_ns)
        recording.__post_init__()
        self.recording = recording
        self.collector = BusyThreads(
            cpu_time_of=lambda ident: self.took_ns if ident == thread.ident else 0,
        )
        self.collector.start(recording.context)
        self.collector.read()

    def read(self, share, signal="polling_seconds"):
        self.now_ns += 1_000_000_000
        self.took_ns += round(share * 1e9)
        time.sleep(0.02)  # the thread is somewhere in its loop
        return self.collector.read().get(signal)

    @property
    def told(self):
        return [(fact.subject, fact.numbers["seconds"]) for fact in self.recording.of(Fact)]


def test_what_a_polling_thread_takes_is_added_up_and_told_as_it_doubles(recording):
    with running(poll) as thread:
        readings = Readings(recording, thread)
        assert [readings.read(0.75) for _ in range(3)] == [0.75, 1.5, 2.25]
        assert readings.read(0.1) == 2.25  # it hardly ran
    readings.collector.stop()
    line = poll.__code__.co_firstlineno
    places = {
        f"poll (tests/unit/collectors/python/test_busy_threads.py:{line + n})" for n in (1, 2)
    }
    assert {place for place, _ in readings.told} <= places
    assert sum(dict(readings.told).values()) == 2.25
    for told in recording.of(Fact):  # with what else such a thread does
        assert told.numbers["seconds"] <= told.numbers["thread_seconds"] <= 2.35


@pytest.mark.parametrize("task", [compute, wait])
def test_a_thread_that_computes_or_sleeps_does_not_poll(recording, task):
    with running(task) as thread:
        readings = Readings(recording, thread)
        assert [readings.read(1.0) for _ in range(3)] == [0.0, 0.0, 0.0]
    readings.collector.stop()
    assert readings.told == []


def test_the_training_thread_is_not_one_of_them(recording):
    readings = Readings(recording, threading.current_thread())
    assert readings.read(1.0) in (None, 0.0)


def test_a_thread_of_the_machine_is_measured_by_its_clock(recording):
    collector = BusyThreads()
    collector.start(recording.context)
    with running(poll):
        collector.read()
        deadline = time.monotonic() + 20.0
        while not (seconds := collector.read().get("polling_seconds")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
    assert 0.0 < seconds < 20.0


COMPUTES = """
def crunch(ended):
    total = 0
    while not ended.is_set():  # seldom: a thread that is seen here asks
        for _ in range(1_000):
            total += sum(range(1_000))
"""


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        (COMPUTES, True),
        (COMPUTES + "\n\ndef feed(jobs):\n    jobs.put(1)\n", False),
        (COMPUTES.replace("total += sum", "made.append(0)\n            total += sum"), False),
    ],
    ids=["for itself", "beside a queue", "for a list"],
)
def test_a_thread_that_computes_and_hands_nothing_over_is_added_up(
    recording, tmp_path, text, computes
):
    file = tmp_path / "crunch.py"
    file.write_text(text)
    space = {"__name__": "crunch", "made": []}
    exec(compile(text, str(file), "exec"), space)
    with running(space["crunch"]) as thread:
        readings = Readings(recording, thread)
        seconds = [readings.read(0.75, "computing_seconds") for _ in range(2)]
    readings.collector.stop()
    assert seconds == ([0.75, 1.5] if computes else [0.0, 0.0])
    assert sum(dict(readings.told).values()) == (1.5 if computes else 0.0)
    assert {fact.name for fact in recording.of(Fact)} == ({"computing_at"} if computes else set())


def test_what_a_strategy_computes_of_a_step_in_another_thread_is_the_training(recording, tmp_path):
    file = tmp_path / "crunch.py"
    file.write_text(COMPUTES)
    space = {"__name__": "crunch"}
    exec(compile(COMPUTES, str(file), "exec"), space)
    strategies = Path(threading.__file__).parent / "tensorflow/python/distribute/mirrored_run.py"
    exec(compile("def run(work, ended): work(ended)", str(strategies), "exec"), space)
    with running(partial(space["run"], space["crunch"])) as thread:
        readings = Readings(recording, thread)
        seconds = readings.read(0.75, "computing_seconds")
    assert seconds == 0.0


def test_the_work_of_a_pool_is_given_back(recording, tmp_path):
    file = tmp_path / "crunch.py"
    file.write_text(COMPUTES)
    space = {"__name__": "crunch"}
    exec(compile(COMPUTES, str(file), "exec"), space)
    ended = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        pool.submit(space["crunch"], ended)
        (thread,) = pool._threads
        readings = Readings(recording, thread)
        assert readings.read(0.75, "computing_seconds") == 0.0
        ended.set()


@pytest.mark.parametrize("gone", ["frames", "clock"])
def test_without_frames_or_clocks_it_is_unavailable(recording, monkeypatch, gone):
    if gone == "frames":
        monkeypatch.delattr(sys, "_current_frames")
        collector = BusyThreads()
    else:
        collector = BusyThreads(cpu_time_of=lambda _: None)
    with pytest.raises(Unavailable):
        collector.start(recording.context)


@pytest.mark.parametrize(
    ("loop", "line", "polls"),
    [
        ("while out.qsize() >= ahead:\n    continue", 1, True),
        ("while out.qsize() >= ahead:\n    continue", 2, True),
        ("while len(self.made) > 3:\n    pass", 1, True),
        ("while not ready:\n    time.sleep(0)", 1, True),
        ("while not ready:\n    time.sleep(0.01)", 1, False),
        ("while True:\n    if not out.full():\n        out.put(make())", 2, True),
        ("while True:\n    if not out.full():\n        out.put(make())", 3, False),
        ("while True:\n    try:\n        x = out.get_nowait()\n    except Empty:\n        x = 1", 3,
         True),
        ("while True:\n    x = out.get()", 2, False),
        ("while run:\n    if len(made) > 3:\n        continue\n    made.append(make())", 1,
         True),
        ("while run:\n    if len(made) > 3:\n        continue\n    made.append(make())", 2,
         True),
        ("while run:\n    if len(made) > 3:\n        continue\n    made.append(make())", 3,
         True),
        ("while run:\n    if len(made) > 3:\n        continue\n    made.append(make())", 4,
         False),
        ("while 1:\n    with lock:\n        full = len(made) > 3\n    if full:\n        continue\n"
         "    add()", 3, True),
        ("while 1:\n    with lock:\n        full = check(made)\n    if full:\n        continue\n"
         "    add()", 3, False),
        ("while 1:\n    if made:\n        use(made.pop())", 2, True),
        ("while 1:\n    if made:\n        use(made.pop())", 3, False),
        ("while i < n:\n    if seen[i]:\n        m += 1\n    i += 1", 2, False),
        ("while i < n:\n    i += 1\n    if seen[i]:\n        m += 1", 3, False),
        ("while i < n:\n    i += step(i)", 1, False),
        ("while i < n:\n    i += step(i)", 2, False),
        ("for i in range(9):\n    if out.full():\n        break", 2, False),
        ("x = out.qsize()", 1, False),
    ],
)  # fmt: skip
@pytest.mark.parametrize("indented", [False, True])
def test_loops_that_only_ask(tmp_path, loop, line, polls, indented):
    file = tmp_path / "loops.py"
    begin = "def run():\n"
    if indented:
        begin, loop = "class Reader:\n    def run(self):\n", indent(loop, "    ")
    text = begin + indent(loop, "    ") + "\n"
    file.write_text(text)
    linecache.checkcache(str(file))
    code = compile(text, str(file), "exec")
    while code.co_name != "run":
        code = next(each for each in code.co_consts if isinstance(each, CodeType))
    assert asks(code, begin.count("\n") + line) is polls


def test_a_function_that_is_gone_or_too_long_is_not_read(tmp_path):
    assert not asks(compile("while x: pass", str(tmp_path / "gone.py"), "exec"), 1)
    text = "\n" * 1_000 + "while x:\n    pass\n"
    (tmp_path / "long.py").write_text(text)
    long = compile("def f():\n" + indent(text, " "), str(tmp_path / "long.py"), "exec")
    assert not asks(next(each for each in long.co_consts if isinstance(each, CodeType)), 1_002)
