"""Calls of functions are counted in the training thread, outermost ones only."""

import threading
from types import SimpleNamespace

import pytest

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.collectors.tracing.argument_sizes import ArgumentSizes
from tb_slowdown_plugin.collectors.tracing.function_calls import FunctionCalls, ThreadTraces

NOW_NS = 7
OPTIONS = object()


class Followed:
    """Calls of one function, whose bit is learned at its first call."""

    def __init__(self):
        self.watch = Stopwatch(lambda: NOW_NS)
        self.watch.claim()
        self.thread, self.bits = ThreadTraces(), {}
        self.finished, self.left = [], []
        self.calls = FunctionCalls(
            SimpleNamespace(clock=Clock(monotonic_ns=lambda: NOW_NS), stopwatch=self.watch),
            self.thread,
            self.bits,
            ArgumentSizes(),
            learn=self.learn,
            finish=lambda *trace: self.finished.append(trace),
            leave=self.left.append,
        )

    def learn(self, options, function):
        bit = self.bits[id(options)] = 4
        return bit

    def call(self, trace=None, fails=False):
        begun = self.calls.begin(([1.0],), {}, OPTIONS)
        assert self.thread.began_ns == NOW_NS
        if trace is not None:
            self.thread.open.append(trace)
        if fails:
            self.calls.fail(begun, ValueError())
        else:
            assert self.calls.end(begun, "made") == "made"
        assert self.thread.began_ns == 0


@pytest.fixture
def followed():
    return Followed()


def test_a_step_knows_what_it_ran_and_how_often(followed):
    followed.call()
    followed.call()
    assert (followed.watch.ran, followed.watch.calls) == (4, 2)
    assert followed.bits == {id(OPTIONS): 4}


def test_a_trace_ends_with_its_call_and_one_that_raises_is_left(followed):
    followed.call(trace="first")
    followed.call(trace="second", fails=True)
    assert followed.finished == [("first", "made")]
    assert followed.left == ["second"]
    assert followed.thread.open == []
    assert followed.watch.calls == 1


def test_a_call_inside_of_a_trace_is_not_the_steps(followed):
    followed.thread.open.append("around")
    followed.call()
    assert followed.watch.calls == 0
    assert followed.finished == []
    assert followed.thread.open == ["around"]


def test_a_call_in_another_thread_is_not_the_steps(followed):
    thread = threading.Thread(target=followed.call)
    thread.start()
    thread.join()
    assert followed.watch.calls == 0
