"""What a collector is given in a test: a real clock and lists instead of a logdir."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pytest

from tb_slowdown_plugin.catalog.events import STEP_FUNCTION
from tb_slowdown_plugin.collectors.base import Context
from tb_slowdown_plugin.collectors.graph_timing.graph_account import GraphAccount
from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.records.types import What

if TYPE_CHECKING:
    from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector
    from tb_slowdown_plugin.collectors.xla.collector import XlaCompilations

W = TypeVar("W")


@dataclass
class Recording:
    """A context whose events and failures are lists; the test's thread is the training thread."""

    clock: Clock = field(default_factory=Clock)
    events: list[What] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
    steps: int = 0
    """Steps finished, as the collector is told."""

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(self.clock.monotonic_ns)
        self.stopwatch.claim()
        self.context = Context(
            clock=self.clock,
            stopwatch=self.stopwatch,
            emit=self.events.append,
            report_failure=lambda part, reason: self.failures.append((part, reason)),
            steps_finished=lambda: self.steps,
        )

    def read_graphs_soon(self) -> None:
        """Has the sums of graphs read when they are asked next.

        How long they rest otherwise depends on how long this machine takes for a reading.
        """
        for ask in self.stopwatch.askers:
            if isinstance(account := getattr(ask, "__self__", None), GraphAccount):
                account._rest_ns = 0

    def taken(self, account: str) -> tuple[float, dict[str, int]]:
        """Seconds in an account of the graphs since the last time, and all else that was booked."""
        time.sleep(0.003)  # longer than the shortest time between two readings
        self.read_graphs_soon()
        booked = self.stopwatch.take()
        self.read_graphs_soon()
        return booked.pop(account, 0) / 1e9, booked

    def of(self, kind: type[W]) -> list[W]:
        """The events of one kind, in the order in which they were recorded.

        But for the functions that steps run: each call of one has such a fact.
        """
        return [
            event
            for event in self.events
            if isinstance(event, kind) and getattr(event, "name", None) != STEP_FUNCTION
        ]


@pytest.fixture
def recording() -> Recording:
    """A fresh recording; pass `recording.context` to a collector's `start`."""
    return Recording()


@pytest.fixture
def tracer(monkeypatch: pytest.MonkeyPatch, root: Path) -> Iterator[TraceCollector]:
    """The trace hook, not started yet."""
    from tb_slowdown_plugin.collectors.tracing.collector import TraceCollector

    monkeypatch.chdir(root)
    tracer = TraceCollector()
    yield tracer
    tracer.stop()


@pytest.fixture
def traced(recording: Recording, tracer: TraceCollector) -> Iterator[Recording]:
    """What it records; at the end nothing has failed, and no account is open."""
    tracer.start(recording.context)
    yield recording
    assert recording.failures == []
    assert recording.stopwatch.depth == 0


@pytest.fixture
def xla_compilations(traced: Recording, tracer: TraceCollector) -> Iterator[XlaCompilations]:
    """The watch over XLA, beside the trace hook that it needs."""
    from tb_slowdown_plugin.collectors.xla.collector import XlaCompilations

    collector = XlaCompilations(tracer)
    collector.start(traced.context)
    yield collector
    collector.stop()
