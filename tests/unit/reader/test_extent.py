"""How far a run has come, from its first and last records."""

from __future__ import annotations

import math
from dataclasses import replace

import event_files

from tb_slowdown_plugin.catalog.events import MONITOR_STOPPED
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import assemble
from tb_slowdown_plugin.reader.extent import end_tags, extent_from, extent_of
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.types import Chunk, Event, Fact, no_signals, no_steps

ROWS = 10
STEPS = event_files.make_steps(ROWS)


def record(index: int, session: str = "0123abcd", run: str = "run1/slowdown", *, empty=False):
    number = STEPS.number + index * ROWS
    steps = no_steps() if empty else replace(STEPS, number=number)
    chunk = Chunk(session, index, event_files.STARTED, index * ROWS, steps, no_signals())
    return Record(run, tag(session, index), index, encode(chunk))


def test_the_ends_tell_what_all_records_tell() -> None:
    records = [record(index) for index in range(5)]
    whole = assemble("run1", lambda: records)
    assert whole is not None
    ends = extent_from([records[0], records[-1]])
    assert ends == extent_of(whole)
    assert (ends.steps, ends.first_step, ends.last_step) == (
        50, int(STEPS.number[0]), int(STEPS.number[-1]) + 40,
    )  # fmt: skip


def test_first_and_last_go_by_number_not_by_text() -> None:
    tags = [tag("0a", index) for index in (0, 2, 9, 10)] + [tag("0b", 3)]
    assert end_tags(tags) == {tag("0a", 0), tag("0a", 10), tag("0b", 3)}


def test_workers_are_counted_and_the_chief_tells_the_steps() -> None:
    extent = extent_from([record(0), record(1), record(0, run="run1/slowdown/worker-1")])
    assert extent is not None
    assert (extent.workers, extent.steps) == (2, 20)


def test_a_damaged_end_asks_for_all_records() -> None:
    assert extent_from([record(0), replace(record(1), payload=b"\xff")]) is None
    assert extent_from([]) is None


def test_a_run_without_steps_has_none() -> None:
    extent = extent_from([record(0, empty=True)])
    assert extent is not None
    assert (extent.steps, extent.first_step, math.isnan(extent.started)) == (0, None, False)


def test_a_stopped_monitor_is_the_end_of_its_session() -> None:
    def end(index: int, session: str) -> Record:
        event = Event(ROWS * index, event_files.STARTED, Fact(MONITOR_STOPPED))
        started = event_files.STARTED + index
        chunk = Chunk(session, index, started, index * ROWS, no_steps(), no_signals(), (event,))
        return Record("run1/slowdown", tag(session, index), index, encode(chunk))

    stopped = [record(0), end(1, "0123abcd")]
    for records, is_ended in [
        ([record(0)], False),
        (stopped, True),
        ([*stopped, record(2, "0123abce")], False),
    ]:
        whole = assemble("run1", lambda records=records: records)
        assert whole is not None
        assert (whole.is_ended, extent_of(whole).is_ended) == (is_ended, is_ended)
        extent = extent_from(records)
        assert extent is None or extent.is_ended == is_ended
    assert extent_from(stopped) == extent_of(assemble("run1", lambda: stopped))
