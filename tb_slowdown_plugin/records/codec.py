"""A chunk to the bytes of one record and back: protobuf, packed by zlib with `dictionary.py`.

Reading takes bytes from strangers: size, rows, shapes and times are bounded (`bounds.py`),
and everything that is wrong with them is one `DecodeError`.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Final, cast

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import bounds
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
        raw = unpacker.decompress(record, bounds.MAX_CHUNK_BYTES)
        if unpacker.unconsumed_tail:
            raise DecodeError(f"record unpacks to more than {bounds.MAX_CHUNK_BYTES} bytes")
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
    bounds.few("events", len(message.events), bounds.MAX_EVENTS)
    events = (decode_event(event) for event in message.events)
    with np.errstate(over="ignore"):  # `bounds.samples` squares what nobody has measured
        steps, signals = _decode_steps(message), _decode_signals(message)
    return Chunk(
        session=bounds.text(message.session),
        sequence=message.sequence,
        started=bounds.seconds(message.started, "a start"),
        first_row=message.first_row,
        steps=steps,
        signals=signals,
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
    columns = _columns(message.steps)
    if "number" not in columns or "period" not in columns:
        raise DecodeError("record has steps without the columns 'number' and 'period'")
    rows = columns["number"].rows
    if any(column.rows != rows for column in columns.values()):
        raise DecodeError("record has step columns of different lengths")
    bounds.few("steps times columns", rows * len(columns), bounds.MAX_CELLS)

    def seconds(name: str) -> Float:
        return bounds.durations(name, decode_seconds(columns[name]), known=name == "period")

    def clocked(name: str) -> Float:
        # The training may have moved to a thread whose CPU clock is behind: not measured.
        values = np.full(rows, np.nan) if name not in columns else decode_seconds(columns[name])
        values[(values < 0.0) | (values > bounds.MAX_SECONDS)] = np.nan
        return values

    period = seconds("period")
    gap = decode_seconds(columns["gap"]) if "gap" in columns else np.zeros(rows)
    bounds.durations("gap", np.abs(gap), known=True)
    bounds.few("step kinds", len(message.kinds), bounds.MAX_LISTED)
    kinds = tuple(map(bounds.text, message.kinds)) or ("train",)
    kind = decode_whole(columns["kind"]) if "kind" in columns else np.zeros(rows, np.int64)
    if rows and not (int(kind.min()) >= 0 and int(kind.max()) < len(kinds)):
        raise DecodeError(f"record has a step of an unknown kind, it knows {len(kinds)}")
    items = columns.get("items")
    return StepTable(
        number=np.clip(decode_whole(columns["number"]), -bounds.MAX_COUNT, bounds.MAX_COUNT),
        period_seconds=period,
        **{f"{name}_seconds": clocked(name) for name in _DURATIONS[1:]},
        ended=message.started + np.cumsum(period + gap),
        items=np.full(rows, np.nan) if items is None else decode_real(items),
        kind=kind,
        kinds=kinds,
        accounts={
            name.removeprefix(_ACCOUNT): seconds(name)
            for name in columns
            if name.startswith(_ACCOUNT)
        },
    )


def _columns(columns: Sequence[pb.Column]) -> dict[str, pb.Column]:
    bounds.few("columns", len(columns), bounds.MAX_COLUMNS)
    return {bounds.text(column.name): column for column in columns}


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
    columns = _columns(message.signals)
    time, row = columns.pop("time", None), columns.pop("row", None)
    if time is None or row is None:
        raise DecodeError("record has signals without the columns 'time' and 'row'")
    if row.rows != time.rows or any(column.rows != time.rows for column in columns.values()):
        raise DecodeError("record has signal columns of different lengths")
    bounds.few("samples times columns", time.rows * (2 + len(columns)), bounds.MAX_CELLS)
    return SignalTable(
        time=bounds.durations("time", decode_whole(time) / 1e6),
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
    text = bounds.text
    for what in ("versions", "devices", "limits", "collectors"):
        bounds.few(what, len(getattr(found, what)), bounds.MAX_LISTED)
    return Environment(
        versions={text(name): text(version) for name, version in found.versions.items()},
        devices=tuple((text(device.name), text(device.kind)) for device in found.devices),
        limits=bounds.numbers(found.limits),
        collectors=tuple(
            CollectorState(
                text(state.name),
                cast(CollectorStatus, state.status if state.status in _STATUSES else "failed"),
                text(state.reason),
            )
            for state in found.collectors
        ),
        worker_index=min(found.worker.index, bounds.MAX_WORKERS),
        worker_count=max(1, min(found.worker.count, bounds.MAX_WORKERS)),
    )
