"""Any chunk survives the way into a record and back; any damage is one `DecodeError`."""

from __future__ import annotations

import math
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import codec
from tb_slowdown_plugin.records import limits as bounds
from tb_slowdown_plugin.records.metadata import (
    DICTIONARY,
)
from tb_slowdown_plugin.records.types import (
    Capture,
    Change,
    Chunk,
    CollectorState,
    Environment,
    Epoch,
    Event,
    Execution,
    Fact,
    Failure,
    GcPause,
    Idle,
    SignalTable,
    StepTable,
    Trace,
)

MICROSECOND = 1e-6
MAX_ROWS = 40

text = st.text(max_size=12)
words = st.text("abcdefghij_:", min_size=1, max_size=12)
whole = st.integers(0, bounds.MAX_COUNT)
seconds = st.floats(0.0, 1e7)
perhaps_seconds = st.one_of(seconds, st.just(math.nan))
shares = st.one_of(st.floats(0.0, 1.0), st.just(math.nan))
numbers = st.floats(-bounds.MAX_NUMBER, bounds.MAX_NUMBER)
unix = st.floats(1.5e9, 2.5e9)


def column(elements, rows):
    return st.lists(elements, min_size=rows, max_size=rows).map(lambda v: np.array(v, np.float64))


@st.composite
def step_tables(draw):
    rows = draw(st.integers(0, MAX_ROWS))
    kinds = tuple(draw(st.lists(words, min_size=1, max_size=3, unique=True)))
    period = draw(column(st.floats(0.0, 100.0), rows))
    gap = draw(column(st.one_of(st.just(0.0), st.floats(0.01, 100.0)), rows))
    return StepTable(
        number=np.array(
            draw(st.lists(st.integers(0, 2**40), min_size=rows, max_size=rows)), np.int64
        ),
        period_seconds=period,
        inside_seconds=period * draw(column(shares, rows)),
        process_cpu_seconds=draw(column(perhaps_seconds, rows)),
        thread_cpu_seconds=draw(column(perhaps_seconds, rows)),
        ended=1.8e9 + np.cumsum(period + gap),
        items=draw(column(st.one_of(st.floats(0, 1e12), st.just(math.nan)), rows)),
        kind=np.array(
            draw(st.lists(st.integers(0, len(kinds) - 1), min_size=rows, max_size=rows)), np.int64
        ),
        kinds=kinds if rows else (),
        accounts={
            name: draw(column(perhaps_seconds, rows))
            for name in draw(st.lists(words, max_size=3, unique=True))
        },
    )


@st.composite
def signal_tables(draw):
    rows = draw(st.integers(0, MAX_ROWS))
    names = draw(st.lists(words.map(lambda word: "s" + word), max_size=3, unique=True))
    return SignalTable(
        time=draw(column(unix, rows)),
        row=np.array(draw(st.lists(st.integers(0, 2**40), min_size=rows, max_size=rows)), np.int64),
        values={
            name: draw(column(st.one_of(numbers, st.just(math.nan)), rows))
            for name in names
            if rows
        },
    )


whats = st.one_of(
    st.builds(
        Trace,
        id=whole,
        function=text,
        location=text,
        seconds=seconds,
        building_seconds=seconds,
        cause=st.sampled_from(
            ("first", "signature", "new_object", "variables", "library", "context", "reported")
        ),
        count=whole,
        operations=whole,
        depth=st.integers(0, 2**32 - 1),
        changes=st.lists(st.builds(Change, text, text, text, text), max_size=3).map(tuple),
        elsewhere=st.booleans(),
        jit_compile=st.booleans(),
        signature=st.lists(text, max_size=3).map(tuple),
        reason=text,
    ),
    st.builds(Execution, whole, st.integers(0, 9), seconds, st.booleans()),
    st.builds(GcPause, st.integers(0, 2), seconds, whole, st.booleans()),
    st.builds(Epoch, st.integers(-(2**53), 2**53)),
    st.builds(Idle, seconds),
    st.builds(Failure, text, text),
    st.builds(Capture, text, st.booleans()),
    st.builds(Fact, text, text, st.dictionaries(text, numbers, max_size=3)),
)
environments = st.builds(
    Environment,
    versions=st.dictionaries(text, text, max_size=3),
    devices=st.lists(st.tuples(text, text), max_size=3).map(tuple),
    limits=st.dictionaries(text, numbers, max_size=3),
    collectors=st.lists(
        st.builds(
            CollectorState, text, st.sampled_from(("running", "unavailable", "off", "failed")), text
        ),
        max_size=3,
    ).map(tuple),
    worker_index=st.integers(0, 100),
    worker_count=st.integers(1, 100),
)
chunks = st.builds(
    Chunk,
    session=st.text("0123456789abcdef", min_size=8, max_size=8),
    sequence=whole,
    started=st.just(1.8e9),
    first_row=whole,
    steps=step_tables(),
    signals=signal_tables(),
    events=st.lists(st.builds(Event, whole, unix, whats), max_size=5).map(tuple),
    environment=st.one_of(st.none(), environments),
)


def unpack(record):
    return zlib.decompressobj(zdict=DICTIONARY).decompress(record)


def assert_close(found, expected, tolerance):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance, equal_nan=True)


@given(chunks)
@settings(max_examples=150, deadline=None)
def test_a_chunk_survives_the_way_into_a_record_and_back(chunk):
    found = codec.decode(codec.encode(chunk))
    assert (found.session, found.sequence, found.started, found.first_row) == (
        chunk.session,
        chunk.sequence,
        chunk.started,
        chunk.first_row,
    )
    assert found.events == chunk.events
    assert found.environment == chunk.environment
    steps, expected = found.steps, chunk.steps
    assert steps.number.tolist() == expected.number.tolist()
    assert [steps.kinds[k] for k in steps.kind] == [expected.kinds[k] for k in expected.kind]
    for name in ("period", "inside", "process_cpu", "thread_cpu"):
        assert_close(
            getattr(steps, f"{name}_seconds"), getattr(expected, f"{name}_seconds"), MICROSECOND
        )
    assert_close(steps.ended, expected.ended, 1e-3)
    np.testing.assert_array_equal(steps.items, expected.items)
    for name, account in expected.accounts.items():
        if name in steps.accounts:
            assert_close(steps.accounts[name], account, MICROSECOND)
        else:
            assert not account.any()  # nothing was booked
    assert set(steps.accounts) <= set(expected.accounts)
    if len(chunk.signals):
        assert_close(found.signals.time, chunk.signals.time, MICROSECOND)
        assert found.signals.row.tolist() == chunk.signals.row.tolist()
        assert set(found.signals.values) == set(chunk.signals.values)
        for name, values in chunk.signals.values.items():
            np.testing.assert_array_equal(found.signals.values[name], values)


@given(chunks, st.data())
@settings(max_examples=100, deadline=None)
def test_a_record_cut_at_any_byte_is_a_decode_error(chunk, data):
    record = codec.encode(chunk)
    cut = data.draw(st.integers(0, len(record) - 1))
    with pytest.raises(DecodeError):
        codec.decode(record[:cut])


@given(chunks, st.data())
@settings(max_examples=150, deadline=None)
def test_a_message_cut_at_any_byte_is_a_chunk_or_a_decode_error(chunk, data):
    message = unpack(codec.encode(chunk))
    cut = data.draw(st.integers(0, len(message)))
    decode_or_refuse(zlib.compress(message[:cut]))


@given(chunks, st.data())
@settings(max_examples=200, deadline=None)
def test_a_message_with_any_byte_changed_is_a_chunk_or_a_decode_error(chunk, data):
    message = bytearray(unpack(codec.encode(chunk)))
    place = data.draw(st.integers(0, max(0, len(message) - 1)))
    if message:
        message[place] = data.draw(st.integers(0, 255))
    decode_or_refuse(zlib.compress(bytes(message)))


@given(st.binary(max_size=200))
def test_any_bytes_are_a_decode_error(record):
    with pytest.raises(DecodeError):
        codec.decode(record)


@given(st.binary(max_size=200))
def test_any_message_is_a_chunk_or_a_decode_error(message):
    decode_or_refuse(zlib.compress(message))


def decode_or_refuse(record):
    try:
        found = codec.decode(record)
    except DecodeError:
        return
    rows = len(found.steps)
    assert all(len(account) == rows for account in found.steps.accounts.values())
    assert all(len(values) == len(found.signals) for values in found.signals.values.values())
