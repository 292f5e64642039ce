"""A clock that a test sets, and the spans of a thread on it."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.collectors.timing.stopwatch import Stopwatch
from tb_slowdown_plugin.collectors.tracing.spans import Spans


class Time:
    now = 10**12

    def spend(self, seconds: float) -> None:
        self.now += round(seconds * 1e9)


@pytest.fixture
def time():
    return Time()


@pytest.fixture
def watch(time):
    made = Stopwatch(lambda: time.now)
    made.claim()
    return made


@pytest.fixture
def spans(time, watch):
    return Spans(Clock(monotonic_ns=lambda: time.now), watch)
