"""A chunk to the bytes of one record and back: protobuf, packed by zlib with `dictionary.py`.

Reading takes bytes from strangers: size, rows and shapes are bounded, and
everything that is wrong with them is one `DecodeError`.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Final, cast

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import (
    decode_real,
    decode_seconds,
    decode_whole,
    encode_real,
    encode_seconds,
    encode_whole,
)
from tb_slowdown_plugin.records.dictionary import DICTIONARY
from tb_slowdown_plugin.records.events import decode_event, encode_event
from tb_slowdown_plugin.records.metadata import SCHEMA_VERSION
from tb_slowdown_plugin.records.types import (
    Chunk,
    CollectorState,
    CollectorStatus,
    Environment,
    Float,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)

MAX_CHUNK_BYTES: Final = 64 << 20
"""An honest chunk is under 100 KB; one that unpacks to more than this is refused."""

_ACCOUNT: Final = "account/"
_DURATIONS: Final = ("period", "inside", "process_cpu", "thread_cpu")
_STATUSES: Final = frozenset(("running", "unavailable", "off", "failed"))


def encode(chunk: Chunk) -> bytes:
    """The bytes of one record."""
    message = pb.Chunk(
        schema=SCHEMA_VERSION,
        session=chunk.session,
        sequence=chunk.sequence,
        started=chunk.started,
        first_row=chunk.first_row,
        events=[encode_event(event) for event in chunk.events],
    )
    if len(chunk.steps):
        message.steps.extend(_encode_steps(chunk))
        message.kinds.extend(chunk.steps.kinds)
    if len(chunk.signals):
        message.signals.extend(_encode_signals(chunk.signals))
    if chunk.environment is not None:
        message.environment.CopyFrom(_encode_environment(chunk.environment))
    packer = zlib.compressobj(6, zdict=DICTIONARY)
    return packer.compress(message.SerializeToString()) + packer.flush()


def decode(record: bytes) -> Chunk:
    """The chunk in the bytes of one record.

    Raises:
      DecodeError: The bytes are no chunk, claim too much, or come from a newer version.
    """
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    try:
        raw = unpacker.decompress(record, MAX_CHUNK_BYTES)
        if unpacker.unconsumed_tail:
            raise DecodeError(f"record unpacks to more than {MAX_CHUNK_BYTES} bytes")
        if not unpacker.eof:
            raise DecodeError("record ends early")
        message = pb.Chunk.FromString(raw)
    except (zlib.error, ProtobufError) as error:
        raise DecodeError(f"record is no chunk: {error}") from error
    if message.schema > SCHEMA_VERSION:
        raise DecodeError(
            f"record has schema {message.schema}, this version reads up to {SCHEMA_VERSION}: "
            "upgrade tb-slowdown-plugin"
        )
    events = (decode_event(event) for event in message.events)
    return Chunk(
        session=message.session,
        sequence=message.sequence,
        started=message.started,
        first_row=message.first_row,
        steps=_decode_steps(message),
        signals=_decode_signals(message),
        events=tuple(event for event in events if event is not None),
        environment=_decode_environment(message) if message.HasField("environment") else None,
    )


def _encode_steps(chunk: Chunk) -> list[pb.Column]:
    steps = chunk.steps
    # "ended" is not stored: it follows from the chunk's start, the periods and what lay between.
    gaps = np.diff(steps.ended, prepend=chunk.started) - steps.period_seconds
    gaps[np.abs(gaps) < 1e-3] = 0.0
    columns = [
        encode_whole("number", steps.number, differences=True),
        encode_seconds("period", steps.period_seconds),
        encode_seconds("inside", steps.inside_seconds),
        encode_seconds("process_cpu", steps.process_cpu_seconds),
        encode_seconds("thread_cpu", steps.thread_cpu_seconds),
    ]
    if gaps.any():
        columns.append(encode_seconds("gap", gaps))
    if steps.kind.any():
        columns.append(encode_whole("kind", steps.kind))
    if not np.isnan(steps.items).all():
        columns.append(encode_real("items", steps.items))
    columns.extend(
        encode_seconds(_ACCOUNT + name, seconds)
        for name, seconds in steps.accounts.items()
        if seconds.any()
    )
    return columns


def _decode_steps(message: pb.Chunk) -> StepTable:
    if not message.steps:
        return no_steps()
    columns = {column.name: column for column in message.steps}
    if "number" not in columns or "period" not in columns:
        raise DecodeError("record has steps without the columns 'number' and 'period'")
    rows = columns["number"].rows
    if any(column.rows != rows for column in columns.values()):
        raise DecodeError("record has step columns of different lengths")

    def seconds(name: str) -> Float:
        found = columns.get(name)
        return np.full(rows, np.nan) if found is None else decode_seconds(found)

    period = seconds("period")
    gap = seconds("gap") if "gap" in columns else np.zeros(rows)
    kinds = tuple(message.kinds) or ("train",)
    kind = decode_whole(columns["kind"]) if "kind" in columns else np.zeros(rows, np.int64)
    if rows and not (int(kind.min()) >= 0 and int(kind.max()) < len(kinds)):
        raise DecodeError(f"record has a step of an unknown kind, it knows {len(kinds)}")
    items = columns.get("items")
    return StepTable(
        number=decode_whole(columns["number"]),
        period_seconds=period,
        **{f"{name}_seconds": seconds(name) for name in _DURATIONS[1:]},
        ended=message.started + np.cumsum(period + gap),
        items=np.full(rows, np.nan) if items is None else decode_real(items),
        kind=kind,
        kinds=kinds,
        accounts={
            name.removeprefix(_ACCOUNT): decode_seconds(column)
            for name, column in columns.items()
            if name.startswith(_ACCOUNT)
        },
    )


def _encode_signals(signals: SignalTable) -> list[pb.Column]:
    micros = np.rint(signals.time * 1e6).astype(np.int64)
    return [
        encode_whole("time", micros, differences=True),
        encode_whole("row", signals.row, differences=True),
        *(encode_real(name, values) for name, values in signals.values.items()),
    ]


def _decode_signals(message: pb.Chunk) -> SignalTable:
    if not message.signals:
        return no_signals()
    columns = {column.name: column for column in message.signals}
    time, row = columns.pop("time", None), columns.pop("row", None)
    if time is None or row is None:
        raise DecodeError("record has signals without the columns 'time' and 'row'")
    if row.rows != time.rows or any(column.rows != time.rows for column in columns.values()):
        raise DecodeError("record has signal columns of different lengths")
    return SignalTable(
        time=decode_whole(time) / 1e6,
        row=decode_whole(row),
        values={name: decode_real(column) for name, column in columns.items()},
    )


def _encode_environment(environment: Environment) -> pb.Environment:
    return pb.Environment(
        versions=dict(environment.versions),
        devices=[pb.Device(name=name, kind=kind) for name, kind in environment.devices],
        limits=dict(environment.limits),
        collectors=[
            pb.Collector(name=state.name, status=state.status, reason=state.reason)
            for state in environment.collectors
        ],
        worker=pb.Worker(index=environment.worker_index, count=environment.worker_count),
    )


def _decode_environment(message: pb.Chunk) -> Environment:
    found = message.environment
    versions: Mapping[str, str] = dict(found.versions)
    return Environment(
        versions=versions,
        devices=tuple((device.name, device.kind) for device in found.devices),
        limits=dict(found.limits),
        collectors=tuple(
            CollectorState(
                state.name,
                cast(CollectorStatus, state.status if state.status in _STATUSES else "failed"),
                state.reason,
            )
            for state in found.collectors
        ),
        worker_index=found.worker.index,
        worker_count=max(1, found.worker.count),
    )
