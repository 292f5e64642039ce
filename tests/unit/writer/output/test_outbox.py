"""Records go out in order, are kept while the sink fails, and no error reaches the training."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.writer.output.outbox import (
    MAX_HELD_RECORDS,
    MemorySink,
    Outbox,
    OutboxRecord,
)


class Disk(MemorySink):
    """Full until somebody makes room."""

    is_full = False
    room = 10**6

    def write(self, records):
        if self.is_full or len(records) > self.room:
            raise OSError(28, "No space left on device")
        super().write(records)


def record(number: int) -> OutboxRecord:
    return OutboxRecord(str(number).encode(), f"slowdown/0a/{number}", number, float(number))


@pytest.fixture
def failures():
    return []


def make(failures):
    disk = Disk()
    return disk, Outbox(disk, lambda part, reason: failures.append((part, reason)))


def test_all_that_is_held_is_written_in_order(failures) -> None:
    disk, outbox = make(failures)
    for number in range(3):
        outbox.put(record(number))
    assert outbox.write()
    assert (disk.records, disk.tags[0]) == ([b"0", b"1", b"2"], "slowdown/0a/0")
    assert outbox.write()
    assert len(disk.records) == 3


def test_a_failing_sink_is_told_of_and_nothing_is_lost(failures) -> None:
    disk, outbox = make(failures)
    outbox.put(record(0))
    disk.is_full = True
    assert not outbox.write()
    assert failures == [("writing", "OSError: No space left on device")]
    assert disk.closed
    outbox.put(record(1))
    disk.is_full = False
    assert outbox.write()
    assert disk.records == [b"0", b"1"]


def test_after_a_failure_records_go_one_by_one(failures) -> None:
    disk, outbox = make(failures)
    disk.room = 1
    for number in range(3):
        outbox.put(record(number))
    assert not outbox.write()
    assert outbox.write()
    assert disk.records == [b"0", b"1", b"2"]


def test_the_oldest_go_when_too_many_wait(failures) -> None:
    disk, outbox = make(failures)
    for number in range(MAX_HELD_RECORDS + 2):
        outbox.put(record(number))
    assert outbox.is_full
    assert outbox.write()
    assert disk.records[0] == b"2"
    assert len(disk.records) == MAX_HELD_RECORDS
