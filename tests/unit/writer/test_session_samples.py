"""When a session samples, and that it tells what its samples cost."""

from __future__ import annotations

import pytest
from unit.writer.sessions import Counting, chunks, live, session_of, turn

from tb_slowdown_plugin.writer.sampling import (
    sampler as schedule,
)
from tb_slowdown_plugin.writer.sampling.sampler import (
    SLOWED,
)


class InThread(Counting):
    """Also counts what the training thread reads."""

    def __init__(self):
        super().__init__()
        self.thread_reads = 0

    def read_in_thread(self):
        self.thread_reads += 1
        return {"graph_operations": float(self.thread_reads * 10)}


def test_samples_get_rarer_as_the_run_gets_older(run):
    collector = Counting()
    session = session_of(run, collector)
    live(run, session, 50.0, 0.05)
    assert 190 <= collector.reads <= 205  # every 0.25 s
    live(run, session, 3950.0, 0.5)
    before = collector.reads
    live(run, session, 1000.0, 0.5)
    assert 95 <= collector.reads - before <= 105  # every 10 s
    session.stop()
    signals = [chunk.signals for chunk in chunks(run.sink)]
    values = [value for table in signals for value in table.values.get("rss_bytes", [])]
    assert values == [float(n + 1) for n in range(collector.reads)]
    times = [time for table in signals for time in table.time]
    assert times == sorted(times)


def test_what_the_training_thread_reads_joins_the_newest_sample(run):
    collector = InThread()
    session = session_of(run, collector)
    live(run, session, 30.0, 0.125)
    session.stop()
    tables = [chunk.signals for chunk in chunks(run.sink) if len(chunk.signals)]
    both = [
        pair
        for table in tables
        for pair in zip(
            table.values["rss_bytes"].tolist(),
            table.values["graph_operations"].tolist(),
            strict=True,
        )
    ]
    assert both[:-1] == [(n + 1.0, (n + 1) * 10.0) for n in range(len(both) - 1)]


def test_signals_logged_by_hand_are_sorted_in(run):
    session = session_of(run, Counting())
    turn(session)
    run.time.spend(0.1)
    run.recorder.add_sample({"allocator_in_use_bytes:pool": 5.0})
    run.time.spend(0.3)
    turn(session)
    session.stop()
    table = chunks(run.sink)[0].signals
    assert table.values["allocator_in_use_bytes:pool"].tolist()[1] == 5.0
    assert table.values["rss_bytes"].tolist()[0] == 1.0
    assert list(table.time) == sorted(table.time)


def test_the_monitor_tells_its_own_cpu_time(run):
    class Busy(Counting):
        def read(self):
            run.time.thread_cpu_ns += 2_000_000
            return super().read()

    session = session_of(run, Busy())
    turn(session)
    run.time.spend(0.5)
    turn(session)
    session.stop()
    table = chunks(run.sink)[0].signals
    assert table.values["monitor_cpu_seconds"].tolist() == [0.0, 0.002, 0.004]


@pytest.mark.parametrize(("cost_seconds", "every"), [(0.0003, 0.25), (0.002, 1.2)])
def test_samples_take_their_share_of_a_core_and_are_fewer_and_told_where_they_cost_more(
    run, cost_seconds, every
):
    class Busy(Counting):
        def read(self):
            run.time.thread_cpu_ns += round(cost_seconds * 1e9)
            return super().read()

    busy = Busy()
    session = session_of(run, busy)
    began_ns = run.time.monotonic_ns
    while run.time.monotonic_ns < began_ns + 40e9:
        run.time.monotonic_ns += round(turn(session) * 1e9) + 1
    reads = busy.reads
    session.stop()
    slowed = [e.what for c in chunks(run.sink) for e in c.events if e.what.name == SLOWED]
    if every == 0.25:
        assert slowed == []
    else:
        assert 0.5 <= slowed[0].numbers["seconds"] <= slowed[-1].numbers["seconds"] <= 4.0
        assert slowed[0].numbers["usual_seconds"] == 0.25
        assert {fact.numbers["sample_cpu_seconds"] for fact in slowed} == {cost_seconds}
    credit = 0.01 + 2 * min(cost_seconds, 0.015)  # the first two are free
    assert reads * cost_seconds <= schedule.SAMPLING_SHARE * 40 + credit + cost_seconds
    assert reads == pytest.approx(40 / every, rel=0.2)
