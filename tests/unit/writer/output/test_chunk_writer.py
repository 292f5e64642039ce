"""What was noted becomes chunks in its order; what belongs to steps that wait, waits with them."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.records.codec import decode
from tb_slowdown_plugin.records.types import CollectorState, Environment, Epoch, StepTable
from tb_slowdown_plugin.writer.output.chunk_writer import ChunkWriter
from tb_slowdown_plugin.writer.output.outbox import MemorySink, Outbox
from tb_slowdown_plugin.writer.sampling.flush_schedule import STEPS_PER_CHUNK
from tb_slowdown_plugin.writer.steps.step_buffer import Sample

STATES = (CollectorState("counting", "running"),)


class Failures(list[tuple[str, str]]):
    """What was reported as failed, and why."""

    def report(self, part: str, reason: str) -> None:
        self.append((part, reason))


@pytest.fixture
def failures() -> Failures:
    return Failures()


@pytest.fixture
def sink() -> MemorySink:
    return MemorySink()


def ignore(steps: StepTable) -> None:
    """What a session does with the steps of a chunk: here nothing."""


def describe(states: tuple[CollectorState, ...]) -> Environment:
    return Environment({"python": "3"}, collectors=states)


@pytest.fixture
def writer(run, sink, failures) -> ChunkWriter:
    outbox = Outbox(sink, failures.report)
    return ChunkWriter(run.recorder, outbox, "0badcafe", describe, ignore, failures.report)


def collect(writer, *samples, states=STATES, whole=True) -> None:
    writer.collect(list(samples), states, whole=whole)
    writer.write()


def found(sink):
    return [decode(record) for record in sink.records]


def test_samples_are_written_in_the_order_of_their_times(run, writer, sink):
    run.step()
    run.recorder.add_sample({"of_the_program": 1.0})
    late = run.time.clock().unix_seconds() + 5.0
    collect(writer, Sample(late, 1, {"rss_bytes": 2.0}), Sample(late - 3.0, 1, {"rss_bytes": 1.0}))
    (chunk,) = found(sink)
    assert chunk.signals.time.tolist() == [late - 5.0, late - 3.0, late]
    assert chunk.signals.values["rss_bytes"].tolist()[1:] == [1.0, 2.0]


def test_an_event_after_steps_that_wait_comes_with_them(run, writer, sink):
    run.step(0.1)
    for _ in range(4):
        run.step(0.01)
    run.recorder.emit(Epoch(3))
    collect(writer, whole=False)
    assert [len(chunk.steps) for chunk in found(sink)] == [1]
    assert found(sink)[0].events == ()
    collect(writer)
    late = found(sink)[1]
    assert (late.first_row, len(late.steps)) == (1, 4)
    assert [(event.row, event.what) for event in late.events] == [(5, Epoch(3))]


def test_the_environment_is_told_once_and_again_when_it_changed(run, writer, sink):
    collect(writer)
    run.step()
    collect(writer)
    failed = (CollectorState("counting", "failed", "RuntimeError in read"),)
    collect(writer, states=failed)
    collect(writer, states=failed)
    told = [chunk.environment for chunk in found(sink)]
    expected = Environment({"python": "3"}, collectors=STATES)
    assert told == [expected, None, Environment({"python": "3"}, collectors=failed)]


def test_where_nothing_could_be_written_the_next_file_begins_with_the_environment(
    run, sink, failures
):
    class Full(MemorySink):
        is_full = True

        def write(self, records):
            if self.is_full:
                raise OSError(28, "No space left on device")
            super().write(records)

    full = Full()
    outbox = Outbox(full, failures.report)
    writer = ChunkWriter(run.recorder, outbox, "0badcafe", describe, ignore, failures.report)
    collect(writer)
    full.is_full = False
    run.step()
    collect(writer)
    assert [(c.sequence, bool(c.environment)) for c in found(full)] == [(0, True), (1, True)]
    assert [part for part, _ in failures] == ["writing"]


def test_an_environment_that_can_not_be_described_is_its_states(run, sink, failures):
    def fail(states):
        raise OSError("no /proc")

    outbox = Outbox(sink, failures.report)
    collect(ChunkWriter(run.recorder, outbox, "0badcafe", fail, ignore, failures.report))
    assert found(sink)[0].environment == Environment(collectors=STATES)
    assert failures == [("environment", "OSError in fail")]


def test_steps_that_were_dropped_leave_a_gap_in_the_rows(run, writer, sink, failures):
    run.step()
    collect(writer)
    run.step()
    run.recorder.entries.clear()
    run.step()
    collect(writer)
    assert [(chunk.first_row, len(chunk.steps)) for chunk in found(sink)] == [(0, 1), (2, 1)]
    assert failures == [("recorder", "steps come faster than they can be written")]


def test_many_steps_are_several_chunks_and_each_is_noted(run, sink, failures):
    seen: list[int] = []
    writer = ChunkWriter(
        run.recorder,
        Outbox(sink, failures.report),
        "0badcafe",
        describe,
        lambda steps: seen.append(len(steps)),
        failures.report,
    )
    for _ in range(2 * STEPS_PER_CHUNK + 1):
        run.step(0.001)
    run.recorder.emit(Epoch(0))
    collect(writer)
    chunks = found(sink)
    assert seen == [len(chunk.steps) for chunk in chunks]
    assert sum(seen) == 2 * STEPS_PER_CHUNK + 1
    assert max(seen) <= STEPS_PER_CHUNK
    assert [chunk.sequence for chunk in chunks] == [0, 1, 2]
    assert writer.records == 3
    assert [len(chunk.events) for chunk in chunks] == [0, 0, 1]
