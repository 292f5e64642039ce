"""Sampling, chunking, the flush schedule, and what happens when writing fails."""

from __future__ import annotations

import logging

import numpy as np
import pytest

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.types import CollectorState, Environment, Epoch, Failure
from tb_slowdown_plugin.writer import schedule
from tb_slowdown_plugin.writer.outbox import MAX_HELD_RECORDS
from tb_slowdown_plugin.writer.sample_pace import SLOWED
from tb_slowdown_plugin.writer.session import Session
from tb_slowdown_plugin.writer.sink import MemorySink


class Counting:
    """Counts its readings."""

    name = "counting"

    def __init__(self):
        self.reads = 0

    def start(self, context):
        self.context = context

    def stop(self):
        pass

    def read(self):
        self.reads += 1
        return {"rss_bytes": float(self.reads)}


class InThread(Counting):
    """Also counts what the training thread reads."""

    def __init__(self):
        super().__init__()
        self.thread_reads = 0

    def read_in_thread(self):
        self.thread_reads += 1
        return {"graph_operations": float(self.thread_reads * 10)}


class BrokenSink(MemorySink):
    """Fails while it is told to."""

    broken = True
    opened = 0

    def write(self, records):
        if self.broken:
            raise OSError(28, "No space left on device", "/home/ada/logs/x")
        super().write(records)


def session_of(run, *collectors, sink=None, **arguments):
    session = Session(run.recorder, sink or run.sink, "0badcafe", collectors, **arguments)
    session.start()
    return session


def turn(session):
    """What both threads in the background do; the seconds until one of them is due again."""
    return min(session.sample(), session.tick())


def chunks(sink):
    return [decode(record) for record in sink.records]


def live(run, session, seconds, step_seconds):
    """Trains for a while, with the background thread on time."""
    end = run.time.monotonic_ns + round(seconds * 1e9)
    tick_at = run.time.monotonic_ns
    while run.time.monotonic_ns < end:
        if run.time.monotonic_ns >= tick_at:
            tick_at = run.time.monotonic_ns + round(turn(session) * 1e9)
        run.step(step_seconds)


def test_every_step_is_written_once_and_in_order(run):
    session = session_of(run)
    live(run, session, 60.0, 0.01)
    session.stop()
    found = chunks(run.sink)
    assert [chunk.sequence for chunk in found] == list(range(len(found)))
    numbers = [number for chunk in found for number in chunk.steps.number.tolist()]
    assert numbers == list(range(6000))
    assert [chunk.first_row for chunk in found] == [
        sum(len(c.steps) for c in found[:index]) for index in range(len(found))
    ]
    assert max(len(chunk.steps) for chunk in found) <= schedule.STEPS_PER_CHUNK
    assert run.sink.closed


def test_in_the_background_steps_wait_until_their_cpu_time_is_known(run):
    session = session_of(run)
    live(run, session, 60.0, 0.01)
    tables = [chunk.steps for chunk in chunks(run.sink)]
    assert len(tables) >= 8
    assert not any(np.isnan(steps.process_cpu_seconds).any() for steps in tables)
    written = sum(map(len, tables))
    session.flush()
    assert sum(len(chunk.steps) for chunk in chunks(run.sink)) == run.recorder.rows > written


def test_what_comes_after_steps_that_wait_is_written_after_them(run):
    session = session_of(run)
    run.step(0.1)
    for _ in range(4):
        run.step(0.01)
    run.recorder.mark_epoch(1)
    run.recorder.add_sample({"rss_bytes": 1.0})
    run.time.spend(10)
    session.tick()
    (early,) = chunks(run.sink)
    assert (len(early.steps), early.events, len(early.signals)) == (1, (), 0)
    run.time.spend(10)  # the step under way takes long
    session.tick()
    late = chunks(run.sink)[-1]
    assert (late.first_row, len(late.steps)) == (1, 4)
    assert [(event.row, event.what) for event in late.events] == [(5, Epoch(1))]
    assert late.signals.row.tolist() == [5]


def test_a_slow_run_is_written_every_ten_seconds_then_every_thirty(run):
    session = session_of(run)
    live(run, session, 3600.0, 1.0)
    early = len(run.sink.records)
    live(run, session, 3600.0, 1.0)
    late = len(run.sink.records) - early
    assert 330 <= early <= 380
    assert 100 <= late <= 125


def test_nothing_older_than_ten_seconds_is_missing_when_the_process_dies(run):
    session = session_of(run)
    live(run, session, 95.0, 0.5)
    written = sum(len(chunk.steps) for chunk in chunks(run.sink))
    assert (run.recorder.rows - written) * 0.5 <= schedule.FLUSH_SECONDS


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
    assert reads * cost_seconds <= schedule.SAMPLING_SHARE * 40 + 0.01 + cost_seconds
    assert reads == pytest.approx(40 / every, rel=0.2)


def test_the_environment_is_written_first_and_when_it_changes(run):
    class Fragile(Counting):
        def read(self):
            if self.reads == 50:
                raise RuntimeError("gone")
            return super().read()

    session = session_of(
        run, Fragile(), describe=lambda states: Environment({"python": "3"}, collectors=states)
    )
    live(run, session, 60.0, 0.1)
    session.stop()
    told = [(c.sequence, c.environment) for c in chunks(run.sink) if c.environment]
    running = CollectorState("counting", "running")
    failed = CollectorState("counting", "failed", "RuntimeError: gone")
    assert told[0][0] == 0
    assert [environment.collectors for _, environment in told] == [(running,), (failed,)]
    assert {environment.versions["python"] for _, environment in told} == {"3"}


def test_an_environment_that_can_not_be_told_is_a_failure_of_its_own(run):
    def describe(states):
        raise OSError("no /proc")

    session = session_of(run, Counting(), describe=describe)
    run.step()
    session.stop()
    chunk = chunks(run.sink)[0]
    assert chunk.environment.collectors == (CollectorState("counting", "running"),)
    failures = [e.what for c in chunks(run.sink) for e in c.events if isinstance(e.what, Failure)]
    assert failures == [Failure("environment", "OSError: no proc")]


def test_a_failing_sink_warns_once_and_loses_only_what_is_too_old(run, caplog):
    sink = BrokenSink()
    session = session_of(run, sink=sink)
    with caplog.at_level(logging.WARNING):
        live(run, session, 1200.0, 1.0)
        sink.broken = False
        live(run, session, 20.0, 1.0)
        session.stop()
    warnings = [record.getMessage() for record in caplog.records]
    assert warnings == [
        "slowdown monitor: writing failed (OSError: No space left on device); "
        "training goes on, the record says what is missing"
    ]
    found = chunks(sink)
    assert len(found) >= MAX_HELD_RECORDS
    first = found[0]
    assert first.sequence > 0  # the gap in the sequence proves the loss
    assert first.first_row > 0
    assert [c.sequence for c in found] == list(range(first.sequence, found[-1].sequence + 1))
    assert any(chunk.environment for chunk in found)


def test_a_short_failure_loses_nothing_and_is_recorded(run):
    sink = BrokenSink()
    session = session_of(run, sink=sink)
    live(run, session, 30.0, 1.0)
    sink.broken = False
    live(run, session, 20.0, 1.0)
    session.stop()
    found = chunks(sink)
    assert sum(len(chunk.steps) for chunk in found) == run.recorder.rows
    assert found[0].sequence == 0
    failures = [e.what for c in found for e in c.events if isinstance(e.what, Failure)]
    assert failures == [Failure("writing", "OSError: No space left on device")]


def test_memory_stays_bounded_while_the_sink_fails(run):
    session = session_of(run, sink=BrokenSink())
    live(run, session, 3000.0, 0.1)
    assert len(session._outbox._held) == MAX_HELD_RECORDS
    assert len(run.recorder.entries) <= schedule.STEPS_PER_CHUNK
    session.stop()


def test_a_close_that_fails_is_no_harm(run):
    class Stuck(MemorySink):
        def close(self):
            raise RuntimeError("stuck")

    session = session_of(run, sink=Stuck())
    run.step()
    session.stop()


def test_a_fork_writes_nothing(run):
    session = session_of(run, Counting())
    session.abandon()
    run.step()
    run.recorder.emit(Epoch(0))
    assert turn(session) == schedule.FLUSH_SECONDS
    session.flush()
    session.stop()
    assert run.sink.records == []
    assert not run.sink.closed


def test_steps_that_were_not_kept_are_told(run):
    session = session_of(run)
    run.step()
    session.flush()
    run.step()
    run.recorder.entries.clear()
    run.step()
    session.flush()
    session.flush()
    found = chunks(run.sink)
    assert found[1].first_row == 2
    failures = [e.what for c in found for e in c.events if isinstance(e.what, Failure)]
    assert failures == [Failure("recorder", "steps come faster than they can be written")]


@pytest.mark.parametrize(
    ("age", "flush", "sample"),
    [
        (0.0, 1.0, 0.25),
        (4.0, 4.0, 0.25),
        (100.0, 10.0, 0.5),
        (3600.0, 30.0, 10.0),
        (1e6, 30.0, 10.0),
    ],
)
def test_the_schedule(age, flush, sample):
    assert schedule.flush_seconds(age) == flush
    assert schedule.sample_seconds(age) == sample


def test_all_records_of_a_flush_are_handed_on_at_once(run):
    class Noting(MemorySink):
        def __init__(self):
            super().__init__()
            self.sequences = []

        def write(self, records):
            self.sequences.append([record.sequence for record in records])
            super().write(records)

    sink = Noting()
    session = session_of(run, sink=sink)
    for _ in range(2 * schedule.STEPS_PER_CHUNK + 1):
        run.step(0.001)
    session.flush()
    run.step()
    session.flush()
    assert sink.sequences == [[0, 1, 2], [3]]
    assert sum(len(chunk.steps) for chunk in chunks(sink)) == run.recorder.rows
    session.stop()


def test_a_sink_with_little_room_left_takes_what_fits(run):
    class Full(MemorySink):
        room = 0

        def write(self, records):
            if len(records) > self.room:
                raise OSError(28, "No space left on device")
            self.room -= len(records)
            super().write(records)

    sink = Full()
    session = session_of(run, sink=sink)
    for _ in range(4):
        run.step()
        session.flush()
    assert sink.records == []
    sink.room = 3
    session.flush()
    assert [chunk.sequence for chunk in chunks(sink)] == [0, 1, 2]
    sink.room = 100
    session.stop()
    assert sum(len(chunk.steps) for chunk in chunks(sink)) == 4


def test_a_loop_of_10_us_is_looked_at_before_much_waits(run):
    session = session_of(run)
    session.tick()
    for _ in range(1 << 15):
        run.step(10e-6)
    assert session.tick() == pytest.approx(0.5 * (1 << 15) * 10e-6)
    assert not run.recorder.entries
    session.stop()
