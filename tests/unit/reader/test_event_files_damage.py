"""Files that are cut, damaged or hostile: what can be read is, and the rest is told."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
from event_files import (
    chunk_event,
    frame,
    make_steps,
    scalar_event,
    split,
    version_event,
    write_chunks,
    write_events,
)
from unit.reader.reading import Reading, missing, refusal


def test_a_file_cut_at_any_byte_keeps_every_step_before_the_cut(tmp_path: Path) -> None:
    """What SIGKILL or a full disk leaves behind: whole records, then part of one."""
    chunks = split(make_steps(30, seed=1), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    data = path.read_bytes()
    ends = [len(frame(version_event()))]
    for chunk in chunks:
        ends.append(ends[-1] + len(frame(chunk_event(chunk))))
    assert ends[-1] == len(data)
    for cut in range(ends[1], len(data)):
        path.write_bytes(data[:cut])
        whole = sum(cut >= end for end in ends) - 1
        run = Reading(tmp_path).only()
        np.testing.assert_array_equal(run.steps.number, np.arange(10 * whole))
        unreadable = cut - ends[whole]
        assert run.notes == (
            ()
            if not unreadable
            else (
                f"event file slowdown/{path.name} ends in the middle of a record "
                f"({unreadable} bytes unreadable): it is still being written, or its writer "
                "was stopped",
            )
        )


def test_a_cut_before_the_first_whole_record_leaves_nothing_to_report(tmp_path: Path) -> None:
    path = write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    path.write_bytes(path.read_bytes()[:60])
    left = 60 - len(frame(version_event()))
    assert refusal(tmp_path) == (
        f"'{tmp_path}' has no readable slowdown data: event file run1/slowdown/{path.name} ends in "
        f"the middle of a record ({left} bytes unreadable): it is still being written, or its "
        "writer was stopped"
    )


def test_no_flipped_bit_changes_a_number_unnoticed(tmp_path: Path) -> None:
    chunks = split(make_steps(30, seed=1, accounts={"gc": 0.01}), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    data = path.read_bytes()
    first = len(frame(version_event()) + frame(chunk_event(chunks[0])))
    second = len(frame(chunk_event(chunks[1])))
    good = Reading(tmp_path).only()
    for byte in range(first, first + second):
        flipped = bytearray(data)
        flipped[byte] ^= 1 << byte % 8
        path.write_bytes(flipped)
        run = Reading(tmp_path).only()
        rows = [int(np.flatnonzero(good.steps.number == number)[0]) for number in run.steps.number]
        np.testing.assert_array_equal(run.steps.period_seconds, good.steps.period_seconds[rows])
        np.testing.assert_array_equal(run.steps.accounts["gc"], good.steps.accounts["gc"][rows])
        if len(rows) < 30:
            assert missing(run) or run.notes


def test_a_damaged_record_is_counted_and_named(tmp_path: Path) -> None:
    first, second, third = split(make_steps(30), chunk_rows=10)
    folder = tmp_path / "run1" / "slowdown"
    write_events(
        folder, [chunk_event(first), chunk_event(second), chunk_event(third, payload=b"junk")]
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 20
    assert missing(run) == 1
    assert run.notes[0].startswith("1 record can't be read: record is no chunk")


def test_a_length_that_is_not_what_was_written_costs_the_rest_of_the_file(tmp_path: Path) -> None:
    chunks = split(make_steps(30), chunk_rows=10)
    path = write_chunks(tmp_path / "slowdown", chunks)
    first = len(frame(version_event()) + frame(chunk_event(chunks[0])))
    data = bytearray(path.read_bytes())
    data[first] ^= 1
    path.write_bytes(data)
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (
        f"event file slowdown/{path.name} is damaged at byte {first} "
        f"({len(data) - first} bytes unreadable)",
    )


def test_an_event_that_does_not_parse_is_a_note(tmp_path: Path) -> None:
    path = write_events(
        tmp_path / "slowdown", [*map(chunk_event, split(make_steps(10))), b"\xffslowdown"]
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (f"event file slowdown/{path.name} has 1 damaged event",)


def test_other_plugins_records_and_foreign_tags_are_passed_over(tmp_path: Path) -> None:
    chunk, later = split(make_steps(20), chunk_rows=10)
    write_events(
        tmp_path / "slowdown",
        [
            scalar_event("slowdown/loss", 1, 2.0),
            chunk_event(chunk, plugin="scalars"),
            chunk_event(chunk),
            chunk_event(later, payload=b"", plugin="slowdown_other"),
        ],
    )
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == ()


def test_hostile_rows_and_sequences_are_refused_not_allocated(tmp_path: Path) -> None:
    chunk, later = split(make_steps(20), chunk_rows=10)
    write_chunks(tmp_path / "slowdown", [chunk, replace(later, first_row=1 << 60)])
    run = Reading(tmp_path).only()
    assert len(run.steps) == 10
    assert run.notes == (
        "1 record can't be read: record claims more steps than a process can make",
    )


def test_a_users_own_file_still_being_written_is_not_our_business(tmp_path: Path) -> None:
    write_chunks(tmp_path / "run1" / "slowdown", split(make_steps(10)))
    own = write_events(tmp_path / "run1", [scalar_event("loss", 0, 1.0)])
    own.write_bytes(own.read_bytes()[:-3])
    reading = Reading(tmp_path)
    assert reading.only().notes == ()
    assert reading.warnings == []


def test_a_run_of_which_nothing_can_be_read_is_told_beside_the_others(tmp_path: Path) -> None:
    write_chunks(tmp_path / "good" / "slowdown", split(make_steps(10)))
    bad = write_chunks(tmp_path / "bad" / "slowdown", split(make_steps(10)))
    bad.write_bytes(b"not an event file")
    reading = Reading(tmp_path)
    assert list(reading.runs) == ["good"]
    assert reading.warnings == [
        f"event file bad/slowdown/{bad.name} is no event file (17 bytes unreadable)"
    ]
