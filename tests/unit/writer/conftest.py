"""A clock that a test sets, and a recorder, session and monitor on it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.types import Chunk
from tb_slowdown_plugin.writer.output.outbox import (
    MemorySink,
)
from tb_slowdown_plugin.writer.session import WriterSession
from tb_slowdown_plugin.writer.steps.recorder import Recorder

BORN = 1.8e9


@dataclass
class Time:
    """Passes where the test says so; whole nanoseconds, so that sums are exact."""

    monotonic_ns: int = 10**12
    process_cpu_ns: int = 5 * 10**9
    thread_cpu_ns: int = 2 * 10**9

    def clock(self) -> Clock:
        return Clock(
            monotonic_ns=lambda: self.monotonic_ns,
            process_cpu_ns=lambda: self.process_cpu_ns,
            thread_cpu_ns=lambda: self.thread_cpu_ns,
            unix_seconds=lambda: BORN + (self.monotonic_ns - 10**12) / 1e9,
        )

    def spend(self, seconds: float, cpu: float | None = None) -> None:
        """Lets time pass; a single-threaded program computes all the time."""
        cpu_ns = round((seconds if cpu is None else cpu) * 1e9)
        self.monotonic_ns += round(seconds * 1e9)
        self.process_cpu_ns += cpu_ns
        self.thread_cpu_ns += cpu_ns


@dataclass
class Run:
    """A session that writes into memory."""

    time: Time = field(default_factory=Time)
    sink: MemorySink = field(default_factory=MemorySink)

    def __post_init__(self) -> None:
        self.tracing = False
        self.recorder = Recorder(self.time.clock(), is_tracing=lambda: self.tracing)
        self.session = WriterSession(self.recorder, self.sink, "0badcafe")

    def step(self, seconds: float = 0.1, **arguments: object) -> None:
        self.recorder.begin(**arguments)  # type: ignore[arg-type]
        self.time.spend(seconds)
        self.recorder.end()

    def spend_in(self, account: str, seconds: float, cpu: float | None = None) -> None:
        """Lets time pass that is booked to an account."""
        self.recorder.stopwatch.open(account)
        self.time.spend(seconds, cpu=cpu)
        self.recorder.stopwatch.close()

    def chunk(self) -> Chunk:
        """Everything since the last call, as one chunk."""
        before = len(self.sink.records)
        self.session.flush(final=True)
        assert len(self.sink.records) == before + 1
        return decode(self.sink.records[-1])


@pytest.fixture
def run() -> Run:
    return Run()
