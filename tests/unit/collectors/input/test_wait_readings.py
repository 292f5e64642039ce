"""How often the sums of the graphs are read, by a clock and sums that are made up."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_timing import graph_wait
from tb_slowdown_plugin.collectors.input.wait import InputWait

pytestmark = pytest.mark.tensorflow
tf = pytest.importorskip("tensorflow")


def test_short_steps_share_one_reading_and_get_the_wait_that_it_told(recording, monkeypatch):
    """Four steps of 1 ms between two readings: 60% of each was wait."""
    now = 0
    told = graph_wait.Waited(0.0)
    recording.clock = type(recording.clock)(monotonic_ns=lambda: now)
    recording.__post_init__()
    monkeypatch.setattr(graph_wait, "read_waited", lambda: told)
    collector = InputWait()
    collector.start(recording.context)
    collector._account.open()
    booked = []
    for step in range(1, 13):
        now += 1_000_000
        told = graph_wait.Waited(step * 0.0006)
        booked.append(recording.stopwatch.take().get("input_wait", 0))
    collector.stop()
    assert max(booked) <= 1_000_000
    # All but what the last reading has not handed out yet.
    assert 10 * 600_000 <= sum(booked) <= 12 * 600_000
    assert min(booked[2:]) > 0


@pytest.mark.parametrize(("lost", "readings"), [(0.0, 12), (0.09, 12), (0.5, 100)])
def test_steps_that_do_not_wait_are_read_less_often(recording, monkeypatch, lost, readings):
    """200 ms in steps of 1 ms: one reading in 20 ms, once they are known to be usual; one in
    2 ms while half of them is wait."""
    now, waited, read = 0, 0.0, []
    recording.clock = type(recording.clock)(monotonic_ns=lambda: now)
    recording.__post_init__()
    collector = InputWait()
    collector.start(recording.context)
    collector._before = graph_wait.Waited(0.0)
    monkeypatch.setattr(
        graph_wait, "read_waited", lambda: read.append(now) or graph_wait.Waited(waited)
    )
    collector._account.open()
    for _ in range(200):
        now += 1_000_000
        waited += lost / 1e3
        recording.stopwatch.take()
    collector.stop()
    assert len(read) == readings
