"""Threads of the program are found by their own lines; pools and debuggers are left out."""

from __future__ import annotations

import queue
import sys
import threading
import types
from concurrent.futures import ThreadPoolExecutor

import pytest

from tb_slowdown_plugin.collectors.python.thread_places import find_thread_places

STARTED: list[threading.Thread] = []


@pytest.fixture(autouse=True)
def ended_threads():
    """Those of one test are over before the next one looks."""
    yield
    for thread in STARTED:
        thread.join(5.0)
    STARTED.clear()


@pytest.fixture
def release():
    event = threading.Event()
    yield event
    event.set()


def start(target, *args, name=None):
    thread = threading.Thread(target=target, args=args, name=name, daemon=True)
    thread.start()
    STARTED.append(thread)
    while not thread.ident or thread.ident not in sys._current_frames():
        pass
    return thread


def wait_for(release, entered):
    entered.set()
    release.wait()


def take(empty, entered):
    entered.set()
    empty.get()


def blocked(target, *args):
    entered = threading.Event()
    thread = start(target, *args, entered)
    entered.wait()
    return thread


def test_each_thread_of_the_program_is_at_its_innermost_own_line(release):
    empty = queue.Queue()
    training = blocked(wait_for, release)
    others = [blocked(take, empty) for _ in range(3)]
    found = find_thread_places(training.ident, is_in_step=False)
    line = wait_for.__code__.co_firstlineno + 2
    assert found.training.endswith(f"test_thread_places.py:{line})")
    assert found.training.startswith("wait_for (")
    taking = [n for place, n in found.others.items() if place.startswith("take (")]
    assert taking == [3]
    assert found.threads >= 4
    for _ in others:
        empty.put(None)


def test_idle_threads_of_pools_and_own_threads_are_left_out(release):
    training = blocked(wait_for, release)
    with ThreadPoolExecutor(2) as pool:
        pool.submit(int).result()
        own = start(wait_for, release, threading.Event(), name="tbslow sampling")
        found = find_thread_places(training.ident, is_in_step=False)
        assert not any("wait_for" in place for place in found.others)
        before = found.threads
        release.set()
        own.join()
    assert before >= 2


def test_a_thread_without_a_line_of_the_program_is_told_only_in_a_step():
    library = types.ModuleType("somelib.train")
    path = "/opt/env/lib/python3.11/site-packages/somelib/train.py"
    source = "def loop(entered, gate):\n    entered.set()\n    gate.wait()\n"
    exec(compile(source, path, "exec"), library.__dict__)
    gate, entered = threading.Event(), threading.Event()
    thread = start(library.loop, entered, gate)
    entered.wait()
    assert find_thread_places(thread.ident, is_in_step=False) is None
    found = find_thread_places(thread.ident, is_in_step=True)
    assert found.training == "loop (somelib/train.py:3)"
    gate.set()


@pytest.mark.parametrize("debugger", ["pdb", "bdb", "_pydevd_bundle.pydevd", "debugpy.server"])
def test_a_thread_in_a_debugger_is_not_told(debugger, release):
    module = types.ModuleType(debugger)
    exec("def interact(wait, *args):\n    wait(*args)\n", module.__dict__)
    thread = blocked(lambda entered: module.interact(wait_for, release, entered))
    assert find_thread_places(thread.ident, is_in_step=True) is None


def test_a_thread_that_has_ended_is_not_told():
    assert find_thread_places(-1, is_in_step=True) is None
