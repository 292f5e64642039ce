"""The CPU time of the same small computation."""

from __future__ import annotations

import itertools
import time

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.cpu_speed import CpuSpeed


def test_of_a_few_in_a_row_the_least_is_told(recording) -> None:
    times = itertools.accumulate([0.0, 90e-6, 1.0, 30e-6, 1.0, 50e-6])
    collector = CpuSpeed(lambda: next(times))
    collector.start(recording.context)
    assert collector.read() == {"fixed_work_seconds": pytest.approx(30e-6)}
    collector.stop()


def test_it_takes_less_than_a_millisecond_of_cpu(recording) -> None:
    collector = CpuSpeed()
    collector.start(recording.context)
    assert 0 < collector.read()["fixed_work_seconds"] < 1e-3


def test_a_system_without_that_clock_is_named(recording, monkeypatch) -> None:
    monkeypatch.delattr(time, "thread_time")
    with pytest.raises(Unavailable, match="no CPU time of a thread"):
        CpuSpeed().start(recording.context)
