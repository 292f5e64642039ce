"""Training on a clock that the test sets, with a collector that looks where its thread is."""

from __future__ import annotations

from tb_slowdown_plugin.collectors.python import stacks as python_stacks
from tb_slowdown_plugin.collectors.python.stacks import PythonStacks
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.types import Fact

HERE = "tests/unit/collectors/stack_training.py"
OF_OTHERS = ("by:", "beside:")


class Replay:
    def sample(self, then):
        return then()

    def store(self, then):
        return then()


class Training:
    """Steps on a fake clock; `within` runs the collector's read inside a function of the user."""

    def __init__(self, recording, monkeypatch):
        self.now_ns = 0
        self.cpu_ns = 0
        self.recording = recording
        recording.clock = Clock(monotonic_ns=lambda: self.now_ns)
        recording.__post_init__()
        monkeypatch.setattr(python_stacks, "cpu_time_of", lambda thread: self.cpu_ns)
        self.collector = PythonStacks(wait=lambda late: None, pause=lambda seconds: None)
        self.collector.start(recording.context)

    def run(self, reads, where, step_ms=100, cpu_ms=50):
        """A read after each 10 steps."""
        for _ in range(reads):
            self.recording.steps += 10
            self.now_ns += 10 * step_ms * 1_000_000
            self.cpu_ns += 10 * cpu_ms * 1_000_000
            assert where(self.collector.read) == {}

    def end_step(self):
        self.recording.steps += 1


def stacks(recording):
    """Places with what is counted of them, without callers and other threads."""
    return [
        (fact.subject, {key: n for key, n in fact.numbers.items() if not key.startswith(OF_OTHERS)})
        for fact in recording.of(Fact)
    ]


def line_of(method):
    return method.__code__.co_firstlineno + 1
