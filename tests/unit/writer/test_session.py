"""Chunks of steps, events and environments, and when they are written."""

from __future__ import annotations

import numpy as np
import pytest
from unit.writer.sessions import Counting, chunks, live, session_of, turn

from tb_slowdown_plugin.records.types import CollectorState, Environment, Epoch
from tb_slowdown_plugin.writer.output.outbox import (
    MemorySink,
)
from tb_slowdown_plugin.writer.sampling import (
    flush_schedule as schedule,
)


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
    failed = CollectorState("counting", "failed", "RuntimeError in read")
    assert told[0][0] == 0
    assert [environment.collectors for _, environment in told] == [(running,), (failed,)]
    assert {environment.versions["python"] for _, environment in told} == {"3"}


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


def test_a_loop_of_10_us_is_looked_at_before_much_waits(run):
    session = session_of(run)
    session.tick()
    for _ in range(1 << 15):
        run.step(10e-6)
    assert session.tick() == pytest.approx(0.5 * (1 << 15) * 10e-6)
    assert not run.recorder.entries
    session.stop()
