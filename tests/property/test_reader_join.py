"""However a run is cut into chunks, and in whatever steps it is read, it is the same run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields

import numpy as np
from event_files import STARTED, make_steps, split
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import RunBuilder, assemble
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.run import Run, Session
from tb_slowdown_plugin.records.types import (
    Chunk,
    Environment,
    Epoch,
    Event,
    SignalTable,
    StepTable,
)

KINDS = ("train", "eval", "long")
ACCOUNTS = ("gc", "input_wait", "tracing:again")


@st.composite
def step_tables(draw: st.DrawFn, started: float) -> StepTable:
    count = draw(st.integers(1, 40))
    micros = st.lists(st.integers(0, 10**7), min_size=count, max_size=count)
    plain = make_steps(count, first=draw(st.integers(-5, 1000)), started=started)
    period = np.array(draw(micros)) / 1e6
    gaps = np.array(draw(st.lists(st.sampled_from([0, 0, 90]), min_size=count, max_size=count)))
    kind = np.array(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))
    items = st.sampled_from([np.nan, 1.0, 32.5])
    accounts = draw(st.dictionaries(st.sampled_from(ACCOUNTS), micros, max_size=3))
    return StepTable(
        number=plain.number,
        period_seconds=period,
        inside_seconds=period / 2,
        process_cpu_seconds=np.full(count, draw(st.sampled_from([np.nan, 0.25]))),
        thread_cpu_seconds=period,
        ended=started + np.cumsum(period + gaps),
        items=np.array(draw(st.lists(items, min_size=count, max_size=count))),
        kind=kind,
        kinds=KINDS,
        accounts={name: np.array(values) / 1e6 for name, values in accounts.items()},
    )


@st.composite
def sessions(draw: st.DrawFn, name: str, started: float) -> tuple[Run, list[Chunk]]:
    steps = draw(step_tables(started))
    rows = st.lists(st.integers(0, len(steps) - 1), max_size=8).map(sorted)
    signal_rows = np.array(draw(rows), np.int64)
    values = st.lists(
        st.sampled_from([np.nan, 1.0, 2.5]),
        min_size=len(signal_rows),
        max_size=len(signal_rows),
    )
    signals = SignalTable(
        started + signal_rows, signal_rows, {"rss_bytes": np.array(draw(values), float)}
    )
    events = tuple(Event(row, started + row, Epoch(row)) for row in draw(rows))
    environment = Environment(versions={"session": name})
    cuts = sorted(draw(st.sets(st.integers(1, len(steps)), max_size=5)) - {len(steps)})
    chunks = split(
        steps,
        session=name,
        started=started,
        cuts=cuts,
        signals=signals,
        events=events,
        environment=environment,
    )
    session = Session(name, 0, started, len(chunks), 0)
    return Run("run1", steps, signals, events, environment, (session,)), chunks


def records(chunks: list[Chunk]) -> list[Record]:
    return [
        Record("run1/slowdown", tag(c.session, c.sequence), c.sequence, encode(c)) for c in chunks
    ]


def assert_same_columns(
    found: Mapping[str, NDArray[np.float64]],
    expected: Mapping[str, NDArray[np.float64]],
    absent: float,
) -> None:
    """An account that is zero throughout, or a signal that was never read, is not stored."""
    for name, values in expected.items():
        present = ~np.isnan(values) if np.isnan(absent) else values != absent
        if present.any():
            np.testing.assert_allclose(found[name], values, atol=1e-9)
    assert found.keys() <= expected.keys()


def assert_same(found: Run, expected: Run) -> None:
    for field in fields(StepTable):
        if field.name not in ("kind", "kinds", "accounts"):
            np.testing.assert_allclose(
                getattr(found.steps, field.name),
                getattr(expected.steps, field.name),
                atol=1e-6,
                err_msg=field.name,
            )
    assert [found.steps.kinds[kind] for kind in found.steps.kind] == [
        expected.steps.kinds[kind] for kind in expected.steps.kind
    ]
    assert_same_columns(found.steps.accounts, expected.steps.accounts, 0.0)
    np.testing.assert_array_equal(found.signals.row, expected.signals.row)
    np.testing.assert_allclose(found.signals.time, expected.signals.time, atol=1e-6)
    assert_same_columns(found.signals.values, expected.signals.values, np.nan)
    assert found.events == expected.events
    assert found.environment == expected.environment
    assert found.sessions == expected.sessions


@settings(deadline=None)
@given(sessions("aaaaaaaa", STARTED))
def test_what_was_split_joins_to_what_it_was(session: tuple[Run, list[Chunk]]) -> None:
    whole, chunks = session
    found = assemble("run1", lambda: records(chunks))
    assert found is not None
    assert_same(found, whole)


@settings(deadline=None)
@given(
    sessions("aaaaaaaa", STARTED),
    sessions("bbbbbbbb", STARTED + 5000),
    st.randoms(use_true_random=False),
    st.integers(1, 5),
)
def test_reading_in_parts_and_in_any_order_changes_nothing(
    first: tuple[Run, list[Chunk]],
    second: tuple[Run, list[Chunk]],
    random: object,
    part: int,
) -> None:
    one, other = records(first[1]), records(second[1])
    at_once = assemble("run1", lambda: one + other)
    shuffled = one + other
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    any_order = assemble("run1", lambda: shuffled)
    growing = RunBuilder("run1")
    for start in range(0, max(len(one), len(other)), part):
        growing.add(one[start : start + part])
        growing.add(other[start : start + part])
        growing.run()
    assert at_once is not None
    assert any_order is not None
    assert_same(any_order, at_once)
    assert_same(growing.run(), at_once)
    assert len(at_once.steps) == len(first[0].steps) + len(second[0].steps)


@settings(deadline=None)
@given(sessions("aaaaaaaa", STARTED), st.data())
def test_a_lost_record_costs_its_own_steps_and_is_counted(
    session: tuple[Run, list[Chunk]], data: st.DataObject
) -> None:
    whole, chunks = session
    lost = data.draw(st.integers(0, len(chunks) - 1))
    left = [chunk for chunk in chunks if chunk.sequence != lost]
    found = assemble("run1", lambda: records(left))
    if not left:
        assert found is None
        return
    assert found is not None
    kept = np.ones(len(whole.steps), bool)
    kept[chunks[lost].first_row :][: len(chunks[lost].steps)] = False
    np.testing.assert_array_equal(found.steps.number, whole.steps.number[kept])
    known_to_be_lost = int(lost < chunks[-1].sequence)
    assert found.sessions[0].missing_chunks == known_to_be_lost
    # Each event that is left still points at its own step.
    for event in found.events:
        number = whole.steps.number[event.what.number]  # type: ignore[union-attr]
        assert found.steps.number[event.row] == number
