"""Limits and versions of the record format, and the names around it."""

from __future__ import annotations

import zlib
from dataclasses import replace

import event_files
import numpy as np
import pytest

from tb_slowdown_plugin.catalog import names
from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import codec, columns, decoding, metadata
from tb_slowdown_plugin.records import limits as bounds
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import (
    StackedColumns,
)
from tb_slowdown_plugin.records.metadata import (
    DICTIONARY,
)
from tb_slowdown_plugin.records.types import Chunk, Event, Fact, StepTable, no_signals, no_steps


def record(**fields):
    return zlib.compress(pb.Chunk(**{"schema": 1, **fields}).SerializeToString())


def test_a_newer_version_is_refused_with_the_remedy():
    with pytest.raises(DecodeError, match="has schema 2, this version reads up to 1: upgrade"):
        codec.decode(record(schema=2))


def test_a_bomb_is_refused_before_it_unpacks(monkeypatch):
    monkeypatch.setattr(bounds, "MAX_CHUNK_BYTES", 1000)
    with pytest.raises(DecodeError, match="unpacks to more than 1000 bytes"):
        codec.decode(zlib.compress(b"\0" * 100_000))


def test_a_claim_of_too_many_rows_is_refused():
    number, period = (
        pb.Column(name=name, rows=bounds.MAX_ROWS + 1, whole=3) for name in ("number", "period")
    )
    with pytest.raises(
        DecodeError, match="claims 65537 rows in column 'number'; at most 65536 are read"
    ):
        codec.decode(record(steps=[number, period]))


@pytest.mark.parametrize(
    ("steps", "complaint"),
    [
        ([pb.Column(name="number", rows=1, whole=1)], "without the columns"),
        (
            [pb.Column(name="number", rows=1, whole=1), pb.Column(name="period", rows=2, whole=1)],
            "step columns of different lengths",
        ),
        (
            [pb.Column(name=name, rows=1, whole=7) for name in ("number", "period", "kind")],
            "a step of an unknown kind",
        ),
        (
            [pb.Column(name=name, rows=1, shuffled=b"abc") for name in ("number", "period")],
            "has 3 bytes for 1 rows of 4 bytes",
        ),
    ],
)
def test_steps_that_do_not_fit_together_are_refused(steps, complaint):
    with pytest.raises(DecodeError, match=complaint):
        codec.decode(record(steps=steps))


def test_an_event_of_a_kind_not_known_yet_is_skipped():
    found = codec.decode(
        record(events=[pb.Event(row=3), pb.Event(row=4, epoch=pb.Epoch(number=1))])
    )
    assert [event.row for event in found.events] == [4]


def test_a_chunk_without_steps_has_empty_tables():
    chunk = Chunk("0badcafe", 0, 1.8e9, 0, no_steps(), no_signals())
    found = codec.decode(codec.encode(chunk))
    assert len(found.steps) == len(found.signals) == 0
    assert found.environment is None


@pytest.mark.parametrize("seconds", [0.0, 1e-6, 2147.0, 2148.0, 1e9])
def test_durations_are_exact_to_the_microsecond_beyond_35_minutes_too(seconds):
    (column,) = columns.encode_seconds({"period": np.array([seconds, 0.25, np.nan])})
    found = StackedColumns("step", [[column]], ("period", "period")).seconds("period", 0.0)
    assert found[:2].tolist() == pytest.approx([seconds, 0.25], abs=1e-6)
    assert np.isnan(found[2])


def test_thousands_of_short_steps_add_up_and_end_when_they_ended():
    period = np.full(8192, 10.4e-6)  # rounded one by one, 3.3 ms would be missing
    ended = 1.8e9 + np.cumsum(period)
    nan = np.full(len(period), np.nan)
    steps = StepTable(
        number=np.arange(len(period)),
        period_seconds=period,
        inside_seconds=period,
        process_cpu_seconds=nan,
        thread_cpu_seconds=nan,
        ended=ended,
        items=nan,
        kind=np.zeros(len(period), np.int64),
        kinds=("train",),
        accounts={},
    )
    found = codec.decode(codec.encode(Chunk("0badcafe", 0, 1.8e9, 0, steps, no_signals()))).steps
    assert found.period_seconds.sum() == pytest.approx(period.sum(), abs=1e-6)
    np.testing.assert_allclose(found.period_seconds, period, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.ended - 1.8e9, ended - 1.8e9, rtol=0, atol=2e-6)
    assert (found.inside_seconds <= found.period_seconds).all()


def test_what_steps_ran_is_kept_and_costs_nothing_where_nobody_saw_it():
    whole = np.arange(4)
    steps = replace(no_steps(), number=whole, kind=whole * 0, kinds=("train",))
    columns = ("period", "inside", "process_cpu", "thread_cpu")
    steps = replace(steps, **{f"{name}_seconds": np.full(4, 0.5) for name in columns})
    steps = replace(steps, ended=1.8e9 + 0.5 * (whole + 1), items=np.full(4, np.nan))
    unseen = codec.encode(Chunk("0badcafe", 0, 1.8e9, 0, steps, no_signals()))
    found = codec.decode(unseen).steps
    assert (found.ran.tolist(), found.calls.tolist()) == ([0] * 4, [0] * 4)
    steps = replace(
        steps,
        ran=np.array([2, 6, 2, 1 << 41]),
        calls=np.array([1, 9, 1, 30]),
        argument_size=np.array([640, 0, 1 << 33, 2]),
    )
    found = codec.decode(codec.encode(Chunk("0badcafe", 0, 1.8e9, 0, steps, no_signals()))).steps
    assert (found.ran.tolist(), found.calls.tolist()) == ([2, 6, 2, 1 << 41], [1, 9, 1, 30])
    assert found.argument_size.tolist() == [640, 0, 1 << 33, 2]


@pytest.mark.filterwarnings("error")
def test_a_signalling_nan_was_not_measured():
    noisy = np.array([0x7FF0000000000001], "<u8").view(np.uint8).tobytes()
    sampled = [pb.Column(name=name, rows=1, whole=5) for name in ("time", "row")]
    shuffled = pb.Column(name="rss_bytes", rows=1, type=pb.Column.FLOAT64, shuffled=noisy)
    found = codec.decode(record(signals=[*sampled, shuffled]))
    assert np.isnan(found.signals.values["rss_bytes"]).all()


def test_a_steady_column_takes_a_few_bytes():
    steady = columns.encode_count("number", np.arange(7, 7 + 256))
    assert steady.ByteSize() < 20
    found = StackedColumns("step", [[steady]], ("number", "number")).whole("number")
    assert found.tolist() == list(range(7, 7 + 256))
    (constant,) = columns.encode_seconds({"inside": np.full(256, 0.125)})
    assert constant.ByteSize() < 20


@pytest.mark.parametrize(
    ("tensorboard_run", "expected"),
    [
        ("run1/slowdown", ("run1", 0)),
        ("run1/slowdown/worker-2", ("run1", 2)),
        ("slowdown", (".", 0)),
        ("slowdown/worker-1", (".", 1)),
        ("run1", ("run1", 0)),
        ("run1/worker-2", ("run1/worker-2", 0)),
        ("run1/slowdown/worker-x", ("run1/slowdown/worker-x", 0)),
    ],
)
def test_the_run_as_the_user_knows_it(tensorboard_run, expected):
    assert metadata.run_name(tensorboard_run) == expected


def test_tags_rotate_before_tensorboard_samples_them_away():
    tags = [metadata.tag("0badcafe", sequence) for sequence in range(24)]
    assert max(tags.count(tag) for tag in tags) <= 10
    assert tags[7] != tags[8]


def test_names_have_a_family_and_a_detail():
    name = names.account(names.TRACING, names.AGAIN)
    assert (name, names.family(name), names.detail(name)) == (
        "tracing:again",
        "tracing",
        "again",
    )
    assert names.detail(names.GC) == ""


def test_the_dictionary_is_part_of_the_format_and_never_changes():
    assert zlib.adler32(DICTIONARY) == 2412483615


def test_a_record_packed_with_another_dictionary_is_refused():
    packer = zlib.compressobj(zdict=b"period number")
    with pytest.raises(DecodeError, match="record is no chunk"):
        codec.decode(packer.compress(b"\x08\x01" + b"number period" * 9) + packer.flush())


def test_versions_come_in_one_order_in_every_process():
    """A protobuf map has none, and a report must not differ from the one before."""
    message = pb.Chunk()
    for name in ("tensorflow", "numpy", "keras", "python", "platform", "tensorboard"):
        message.environment.versions[name] = "1"
    environment = decoding._decode_environment(message)
    assert list(environment.versions) == sorted(message.environment.versions)


def test_the_reach_of_a_record_is_that_of_its_chunk():
    steps = event_files.make_steps(30)
    stopped = Event(30, event_files.STARTED, Fact("monitor_stopped"))
    for chunk in (
        Chunk("0a", 3, event_files.STARTED, 90, steps, no_signals(), (stopped,)),
        Chunk("0a", 4, event_files.STARTED + 1, 120, no_steps(), no_signals()),
    ):
        raw = codec.encode(chunk)
        reach, whole = decoding.decode_reach(raw), codec.decode(raw)
        assert (reach.started, reach.first_row) == (whole.started, whole.first_row)
        assert reach.numbers.tolist() == whole.steps.number.tolist()
        assert reach.events == whole.events
    for damaged in (raw[:-4], b"", record(schema=2), record(started=-1.0)):
        with pytest.raises(DecodeError):
            decoding.decode_reach(damaged)
