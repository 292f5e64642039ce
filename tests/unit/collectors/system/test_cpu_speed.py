"""The CPU time of the same small computation."""

from __future__ import annotations

import itertools
import time

import pytest

from tb_slowdown_plugin.collectors.base import Unavailable
from tb_slowdown_plugin.collectors.system.cpu_speed import CpuSpeed


def counted(*took):
    """A clock between whose two readings so many seconds pass each time."""
    return itertools.accumulate([0.0, *(pair for each in took for pair in (each, 1.0))]).__next__


def test_the_mean_of_those_since_it_was_read_last_is_told(recording) -> None:
    collector = CpuSpeed(counted(20e-6, 30e-6, 40e-6))
    collector.start(recording.context)
    assert collector.read() == {}
    for _ in range(4):
        recording.stopwatch.cpu_observer()
    assert collector.read() == {"fixed_work_seconds": pytest.approx(25e-6)}
    assert collector.read() == {}
    for _ in range(2):
        recording.stopwatch.cpu_observer()
    assert collector.read() == {"fixed_work_seconds": pytest.approx(40e-6)}
    collector.stop()
    assert recording.stopwatch.cpu_observer is None


def test_one_that_was_interrupted_is_left_out(recording) -> None:
    collector = CpuSpeed(counted(20e-6, 2e-3, 24e-6))
    collector.start(recording.context)
    for _ in range(6):
        collector.compute()
    assert collector.read() == {"fixed_work_seconds": pytest.approx(22e-6)}
    collector.stop()


def test_it_takes_less_than_a_millisecond_of_cpu(recording) -> None:
    collector = CpuSpeed()
    collector.start(recording.context)
    for _ in range(20):
        collector.compute()
    assert 0 < collector.read()["fixed_work_seconds"] < 1e-3
    collector.stop()


def test_a_system_without_that_clock_is_named(recording, monkeypatch) -> None:
    monkeypatch.delattr(time, "thread_time")
    with pytest.raises(Unavailable, match="the CPU time of a thread"):
        CpuSpeed().start(recording.context)
