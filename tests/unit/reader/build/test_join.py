"""Chunks to a run: sessions, gaps, kinds, accounts, signals, events."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from event_files import STARTED, make_steps, split

from tb_slowdown_plugin.reader.build.join import join
from tb_slowdown_plugin.reader.build.session_builder import OutOfOrder, SessionBuilder
from tb_slowdown_plugin.records.run import Gap, Run, Session
from tb_slowdown_plugin.records.types import (
    Chunk,
    CollectorState,
    Environment,
    Epoch,
    Event,
    GcPause,
    SignalTable,
)


def strand_of(chunks: list[Chunk]) -> SessionBuilder:
    strand = SessionBuilder(chunks[0].session)
    for chunk in chunks:
        strand.append(chunk)
    return strand


def joined(*sessions: list[Chunk]) -> Run:
    return join("run1", [strand_of(chunks) for chunks in sessions])


def epochs(run: Run) -> list[tuple[int, int]]:
    return [(event.row, event.what.number) for event in run.events]  # type: ignore[union-attr]


def epoch(row: int, number: int) -> Event:
    return Event(row, STARTED + row, Epoch(number))


def test_chunks_of_one_session_join_into_all_its_steps() -> None:
    steps = make_steps(1000, seed=1, accounts={"input_wait": 0.01})
    run = joined(split(steps, chunk_rows=256))
    for name in ("number", "period_seconds", "inside_seconds", "process_cpu_seconds", "ended"):
        np.testing.assert_array_equal(getattr(run.steps, name), getattr(steps, name))
    np.testing.assert_array_equal(run.steps.accounts["input_wait"], np.full(1000, 0.01))
    assert run.steps.kinds == ("train",)
    assert run.sessions == (Session("0123abcd", 0, STARTED, 4, 0),)


def test_a_run_without_a_step_is_empty_not_an_error() -> None:
    chunk = split(make_steps(0), environment=Environment({"python": "3.11"}))
    run = joined(chunk)
    assert len(run.steps) == 0
    assert run.environment.versions == {"python": "3.11"}
    assert run.sessions == (Session("0123abcd", 0, STARTED, 1, 0),)


def test_an_account_that_a_chunk_leaves_out_was_zero_in_it() -> None:
    first, second, third = split(make_steps(6), chunk_rows=2)
    second = replace(second, steps=make_steps(2, first=2, accounts={"gc": 0.03}))
    run = joined([first, second, third])
    np.testing.assert_array_equal(run.steps.accounts["gc"], [0, 0, 0.03, 0.03, 0, 0])


def test_an_account_that_no_chunk_has_is_absent() -> None:
    assert dict(joined(split(make_steps(3))).steps.accounts) == {}


def test_a_signal_that_a_chunk_leaves_out_was_not_measured_there() -> None:
    signals = SignalTable(
        STARTED + np.arange(4.0),
        np.array([0, 1, 2, 3]),
        {"rss_bytes": np.array([1.0, 2.0, 3.0, 4.0]), "gpu": np.array([np.nan, np.nan, 7.0, 8.0])},
    )
    run = joined(split(make_steps(4), chunk_rows=2, signals=signals))
    np.testing.assert_array_equal(run.signals.row, [0, 1, 2, 3])
    np.testing.assert_array_equal(run.signals.values["rss_bytes"], [1, 2, 3, 4])
    np.testing.assert_array_equal(run.signals.values["gpu"], [np.nan, np.nan, 7, 8])


def test_kinds_that_chunks_number_differently_are_merged() -> None:
    first, second = split(make_steps(4), chunk_rows=2)
    second = replace(
        second, steps=replace(second.steps, kinds=("eval", "train"), kind=np.array([0, 1]))
    )
    run = joined([first, second])
    assert [run.steps.kinds[kind] for kind in run.steps.kind] == ["train", "train", "eval", "train"]


def test_a_missing_chunk_is_counted_and_the_rest_moves_up() -> None:
    events = [epoch(row, row) for row in (0, 300, 600, 999)]
    chunks = split(make_steps(1000), chunk_rows=256, events=events)
    run = joined([chunks[0], chunks[2], chunks[3]])
    assert run.sessions == (Session("0123abcd", 0, STARTED, 3, 1, gaps=(Gap(256, 256),)),)
    assert len(run.steps) == 744
    assert run.steps.number[256] == 512
    # The event of row 300 was lost with its chunk; the others stay at their steps.
    assert [(run.steps.number[row], number) for row, number in epochs(run)] == [
        (0, 0),
        (600, 600),
        (999, 999),
    ]


def test_all_steps_that_the_writer_could_not_keep_are_counted() -> None:
    chunks = split(make_steps(1000), chunk_rows=100)
    late = [replace(chunk, first_row=chunk.first_row + 70) for chunk in chunks[3:6]]
    later = [replace(chunk, first_row=chunk.first_row + 100) for chunk in chunks[6:]]
    run = joined([*chunks[:3], *late, *later])
    assert run.sessions[0].missing_chunks == 0
    assert run.sessions[0].gaps == (Gap(300, 70), Gap(600, 30))
    assert run.sessions[0].missing_steps == 100
    assert len(run.steps) == 1000


def test_the_first_chunks_missing_are_counted_too() -> None:
    run = joined(split(make_steps(1000), chunk_rows=256)[2:])
    assert run.sessions[0].missing_chunks == 2
    assert run.steps.number[0] == 512


def test_signal_rows_after_a_gap_index_the_joined_steps() -> None:
    signals = SignalTable(STARTED + np.arange(8.0), np.arange(8), {"rss_bytes": np.arange(8.0)})
    chunks = split(make_steps(8), chunk_rows=2, signals=signals)
    run = joined([chunks[0], chunks[3]])
    np.testing.assert_array_equal(run.signals.row, [0, 1, 2, 3])
    np.testing.assert_array_equal(run.signals.values["rss_bytes"], [0, 1, 6, 7])


def test_an_event_that_came_late_goes_to_the_step_it_belongs_to() -> None:
    first, second = split(make_steps(4), chunk_rows=2)
    run = joined([first, replace(second, events=(epoch(1, 1), epoch(2, 2)))])
    assert epochs(run) == [(1, 1), (2, 2)]


def test_a_late_event_of_a_missing_chunk_goes_to_the_first_step_after_the_gap() -> None:
    chunks = split(make_steps(6), chunk_rows=2)
    run = joined([chunks[0], replace(chunks[2], events=(epoch(3, 3), epoch(1, 1)))])
    assert epochs(run) == [(2, 3), (1, 1)]


def test_an_event_beyond_its_chunk_belongs_to_the_next_step() -> None:
    first, second = split(make_steps(4), chunk_rows=2)
    run = joined([replace(first, events=(epoch(2, 1),)), replace(second, events=(epoch(4, 2),))])
    assert epochs(run) == [(2, 1), (4, 2)]


def test_a_resumed_run_is_two_sessions_end_to_end_and_nothing_is_lost() -> None:
    before = make_steps(500, accounts={"gc": 0.01})
    later = STARTED + 3600
    after = make_steps(300, first=400, started=later, accounts={"tracing:first": 0.02})
    signals = SignalTable(np.array([later]), np.array([10]), {"rss_bytes": np.array([5.0])})
    run = joined(
        split(after, session="bbbb", started=later, signals=signals, events=[epoch(0, 1)]),
        split(before, session="aaaa", events=[epoch(0, 0), epoch(500, 9)]),
    )
    assert run.sessions == (
        Session("aaaa", 0, STARTED, 2, 0),
        Session("bbbb", 500, later, 2, 0),
    )
    np.testing.assert_array_equal(run.steps.number, [*range(500), *range(400, 700)])
    np.testing.assert_array_equal(run.steps.accounts["gc"], [0.01] * 500 + [0.0] * 300)
    np.testing.assert_array_equal(run.steps.accounts["tracing:first"], [0.0] * 500 + [0.02] * 300)
    np.testing.assert_array_equal(run.signals.row, [510])
    # The end of the first process is not charged to the start of the second.
    assert epochs(run) == [(0, 0), (499, 9), (500, 1)]


def test_the_last_environment_counts() -> None:
    first = Environment(collectors=(CollectorState("gc", "off", "asked"),))
    last = Environment(collectors=(CollectorState("gc", "running"),))
    later = STARTED + 60
    run = joined(
        split(make_steps(2, started=later), session="b", started=later, environment=last),
        split(make_steps(2), session="a", environment=first),
    )
    assert run.environment == last


def test_a_session_of_which_nothing_could_be_read_is_known_as_missing() -> None:
    lost = SessionBuilder("dead")
    lost.note_lost(2)
    run = join("run1", [lost, strand_of(split(make_steps(3)))])
    assert [(s.id, s.chunks, s.missing_chunks) for s in run.sessions] == [
        ("0123abcd", 1, 0),
        ("dead", 0, 3),
    ]
    assert len(run.steps) == 3


def test_chunks_out_of_order_are_refused() -> None:
    first, second = split(make_steps(4), chunk_rows=2)
    strand = strand_of([second])
    with pytest.raises(OutOfOrder):
        strand.append(first)


def test_steps_of_an_earlier_join_stay_as_they_were() -> None:
    first, second = split(make_steps(4), chunk_rows=2)
    strand = strand_of([first])
    before = join("run1", [strand])
    strand.append(replace(second, events=(Event(2, STARTED, GcPause(2, 0.1, 5)),)))
    after = join("run1", [strand])
    assert len(before.steps) == 2
    assert before.events == ()
    assert len(after.steps) == 4
    assert len(after.events) == 1
