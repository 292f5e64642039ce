"""Records in a row are decoded together, and that shows nowhere but in the time it takes."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.build import record_batch
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import RunBuilder
from tb_slowdown_plugin.records import limits as bounds
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.decoding import (
    Opened,
    decode_together,
    open_record,
)
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import (
    Chunk,
    Event,
    GcPause,
    SignalTable,
    StepTable,
    no_signals,
)

ROWS = 7
SESSION = "0123abcd"


def chunks(count: int = 12, rows: int = ROWS) -> list[Chunk]:
    """Each has other columns than the one before; the last one is shorter."""
    steps = event_files.make_steps(count * rows - 3, seed=3)
    random = np.random.default_rng(4)
    for place, account in enumerate(("gc", "input_wait", "callback:Logger")):
        seconds = np.rint(random.random(len(steps)) * 1e4) / 1e6
        seconds[(np.arange(len(steps)) // rows) % (place + 2) > 0] = 0.0
        steps.accounts[account] = seconds  # type: ignore[index]
    steps.process_cpu_seconds[40:60] = np.nan
    at = np.arange(0, len(steps), 3)
    signals = SignalTable(
        steps.ended[at], at, {"rss_bytes": random.random(len(at)), "threads": np.ones(len(at))}
    )
    events = [Event(row, float(steps.ended[row]), GcPause(2, 0.1, 1)) for row in (0, 5, 20, 70)]
    return event_files.split(steps, chunk_rows=rows, signals=signals, events=events)


def message(chunk: Chunk) -> pb.Chunk:
    return open_record(encode(chunk)).message


def records(messages: list[pb.Chunk]) -> list[Record]:
    return [
        Record(
            "run1/slowdown",
            tag(found.session, found.sequence),
            found.sequence,
            zlib.compress(found.SerializeToString()),
        )
        for found in messages
    ]


def run_of(messages: list[pb.Chunk], *, together: bool) -> Run:
    assembly = RunBuilder("run1")
    found = records(messages)
    for part in [found] if together else [[record] for record in found]:
        assembly.add(part)
    return assembly.run()


def assert_same(found: Run, expected: Run) -> None:
    for name in (field.name for field in fields(StepTable)):
        if name not in ("kinds", "accounts"):
            np.testing.assert_array_equal(getattr(found.steps, name), getattr(expected.steps, name))
    assert found.steps.kinds == expected.steps.kinds
    assert found.steps.accounts.keys() == expected.steps.accounts.keys()
    for name, seconds in expected.steps.accounts.items():
        np.testing.assert_array_equal(found.steps.accounts[name], seconds)
    np.testing.assert_array_equal(found.signals.time, expected.signals.time)
    np.testing.assert_array_equal(found.signals.row, expected.signals.row)
    assert found.signals.values.keys() == expected.signals.values.keys()
    for name, values in expected.signals.values.items():
        np.testing.assert_array_equal(found.signals.values[name], values)
    assert found.events == expected.events
    assert found.sessions == expected.sessions
    assert found.environment == expected.environment
    assert found.notes == expected.notes


def change_nothing(found: list[pb.Chunk]) -> None:
    assert found


def damage_period(found: list[pb.Chunk]) -> None:
    found[5].steps[1].whole = -1


def forget_a_record(found: list[pb.Chunk]) -> None:
    del found[6]


def claim_other_bytes(found: list[pb.Chunk]) -> None:
    found[4].steps[1].shuffled = b"abc"


def lose_the_rows_before(found: list[pb.Chunk]) -> None:
    for later in found[7:]:
        later.first_row += 100


def let_events_and_samples_come_late(found: list[pb.Chunk]) -> None:
    found[3].events.add(row=1000, time=event_files.STARTED, epoch=pb.Epoch(number=7))
    found[4].events.add(row=2, time=event_files.STARTED, epoch=pb.Epoch(number=8))
    for column in found[8].signals:
        if column.name == "row":
            column.before += 1000


def add_kinds(found: list[pb.Chunk]) -> None:
    for later in found[8:]:
        del later.kinds[:]
        later.kinds.extend(["validation", "train"])


def repeat_a_column(found: list[pb.Chunk]) -> None:
    found[2].steps.add().CopyFrom(found[2].steps[1])
    found[2].steps[-1].whole = 5_000_000


def have_real_and_long_numbers(found: list[pb.Chunk]) -> None:
    found[1].signals.add(name="other", rows=found[1].signals[0].rows, whole=1 << 60)
    period = np.full(ROWS, 1 << 33, "<i8")
    found[9].steps[1].type = pb.Column.INT64
    found[9].steps[1].shuffled = period.view(np.uint8).reshape(ROWS, 8).T.tobytes()


def leave_out_steps(found: list[pb.Chunk]) -> None:
    del found[-1].steps[:]


@pytest.mark.parametrize(
    "change",
    [
        damage_period,
        forget_a_record,
        claim_other_bytes,
        lose_the_rows_before,
        let_events_and_samples_come_late,
        add_kinds,
        repeat_a_column,
        have_real_and_long_numbers,
        leave_out_steps,
        change_nothing,
    ],
)
def test_together_they_say_what_each_says_alone(change: Callable[[list[pb.Chunk]], None]) -> None:
    messages = [message(chunk) for chunk in chunks()]
    change(messages)
    assert_same(run_of(messages, together=True), run_of(messages, together=False))


def test_a_damaged_record_costs_itself_alone() -> None:
    messages = [message(chunk) for chunk in chunks()]
    damage_period(messages)
    run = run_of(messages, together=True)
    assert len(run.steps) == 12 * ROWS - 3 - ROWS
    assert run.sessions[0].missing_chunks == 1
    assert run.notes == (
        "1 record can't be read: record has -1e-06 seconds in column 'period', which is no time",
    )


@pytest.fixture
def sizes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records are decoded at a time."""
    found: list[int] = []

    def counted(opened: list[Opened]) -> Chunk:
        found.append(len(opened))
        return decode_together(opened)

    monkeypatch.setattr("tb_slowdown_plugin.reader.build.run_builder.decode_together", counted)
    return found


def test_an_honest_run_is_decoded_in_a_few_pieces(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    monkeypatch.setattr(record_batch, "_MOST_RECORDS", 5)
    run_of([message(chunk) for chunk in chunks()], together=True)
    assert sizes == [5, 5, 2]


def test_large_records_do_not_wait_for_each_other(
    monkeypatch: pytest.MonkeyPatch, sizes: list[int]
) -> None:
    messages = [message(chunk) for chunk in chunks()]
    monkeypatch.setattr(
        record_batch, "_MOST_BYTES", sum(found.ByteSize() for found in messages[:3])
    )
    run_of(messages, together=True)
    assert sizes[0] == 3
    assert sum(sizes) == 12
    assert max(sizes) <= 4


def test_records_that_differ_in_all_names_do_not_multiply_in_memory() -> None:
    rows = 1000
    steps = event_files.make_steps(rows)

    def named(sequence: int) -> Chunk:
        accounts = {f"phase:{sequence}-{n}": np.full(rows, 0.001) for n in range(1000)}
        table = replace(steps, accounts=accounts)
        return Chunk(SESSION, sequence, event_files.STARTED, sequence * rows, table, no_signals())

    opened = [open_record(encode(named(sequence))) for sequence in range(3)]
    assert all(later.follows(before) for before, later in pairwise(opened))
    assert len(decode_together(opened[:1]).steps) == rows
    assert 3 * rows * 3000 > bounds.MAX_CELLS
    with pytest.raises(DecodeError, match="claims 9015000 steps times columns"):
        decode_together(opened)
