"""What happens to a session when writing fails."""

from __future__ import annotations

import logging

from unit.writer.sessions import chunks, live, session_of

from tb_slowdown_plugin.records.types import Failure
from tb_slowdown_plugin.writer.output.outbox import (
    MAX_HELD_RECORDS,
    MemorySink,
)
from tb_slowdown_plugin.writer.sampling import (
    flush_schedule as schedule,
)


class BrokenSink(MemorySink):
    """Fails while it is told to."""

    broken = True
    opened = 0

    def write(self, records):
        if self.broken:
            raise OSError(28, "No space left on device", "/home/ada/logs/x")
        super().write(records)


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


def test_a_close_that_fails_is_no_harm(run):
    class Stuck(MemorySink):
        def close(self):
            raise RuntimeError("stuck")

    session = session_of(run, sink=Stuck())
    run.step()
    session.stop()
