"""Opened records to one chunk: what they say, checked, in arrays.

A record, unpacked and parsed, before its numbers are decoded.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import limits
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import ACCOUNT, CLOCKS, StackedColumns
from tb_slowdown_plugin.records.events import decode_event
from tb_slowdown_plugin.records.metadata import DICTIONARY, SCHEMA_VERSION
from tb_slowdown_plugin.records.types import (
    Chunk,
    CollectorState,
    CollectorStatus,
    Environment,
    Event,
    Float,
    Int,
    SignalTable,
    StepTable,
    no_signals,
    no_steps,
)

_STATUSES: Final = frozenset(("running", "unavailable", "off", "failed"))


def decode_together(opened: Sequence[Opened]) -> Chunk:
    """The chunk that one record is, or that several make of which each follows the one before.

    What a record leaves out stands in the arrays as if it were told: accounts as zero, all else
    as not measured. An event or a sample belongs to no later row than its own record's end.

    Args:
      opened: At least one. Several must follow each other (`Opened.follows`).

    Raises:
      DecodeError: One of them claims too much, or all together do; or something in one is wrong.
    """
    messages = [of.message for of in opened]
    first = opened[0]
    started = [limits.seconds(message.started, "a start") for message in messages]
    environments = [
        _decode_environment(message) for message in messages if message.HasField("environment")
    ]
    # `limits.samples` squares what nobody has measured, and signalling NaNs.
    with np.errstate(over="ignore", invalid="ignore"):
        steps = _decode_steps(messages, started)
        signals = _decode_signals(opened)
    return Chunk(
        session=first.session,
        sequence=first.sequence,
        started=started[0],
        first_row=first.first_row,
        steps=steps,
        signals=signals,
        events=tuple(_decode_events(opened)),
        environment=environments[-1] if environments else None,
    )


@dataclass(frozen=True, slots=True)
class Reach:
    """How far one record goes: what a list of runs needs of it, at a fraction of the price."""

    started: float
    """Unix seconds."""
    first_row: int
    numbers: Int
    """Of its steps."""
    events: tuple[Event, ...]


def decode_reach(record: bytes) -> Reach:
    """The reach of the bytes of one record; its other columns are not looked at.

    Raises:
      DecodeError: The bytes are no chunk, claim too much, or come from a newer version.
    """
    opened = open_record(record)
    table = opened.message.steps
    numbers = np.zeros(0, np.int64)
    if table:
        numbers = _step_numbers(StackedColumns("step", [table], ("number", "period")))
    return Reach(
        limits.seconds(opened.message.started, "a start"),
        opened.first_row,
        numbers,
        tuple(_decode_events([opened])),
    )


def _step_numbers(columns: StackedColumns) -> Int:
    return np.clip(columns.whole("number"), -limits.MAX_COUNT, limits.MAX_COUNT)


def _decode_steps(messages: Sequence[pb.Chunk], started: Sequence[float]) -> StepTable:
    tables = [message.steps for message in messages]
    if not any(tables):
        return no_steps()
    columns = StackedColumns("step", tables, ("number", "period"))

    def account(name: str) -> Float:
        return limits.durations(name, columns.seconds(name, absent=0.0))

    def clocked(name: str) -> Float:
        # The training may have moved to a thread whose CPU clock is behind: not measured.
        if name not in columns:
            return np.full(columns.total, np.nan)
        values = columns.seconds(name, absent=np.nan)
        values[(values < 0.0) | (values > limits.MAX_SECONDS)] = np.nan
        return values

    period = limits.durations("period", columns.seconds("period", absent=0.0), known=True)
    ended = period
    if "gap" in columns:
        gap = columns.seconds("gap", absent=0.0)
        limits.durations("gap", np.abs(gap), known=True)
        ended = period + gap
    kinds = _kinds(messages)
    kind = columns.whole("kind") if "kind" in columns else np.zeros(columns.total, np.int64)
    if len(kind) and not (int(kind.min()) >= 0 and int(kind.max()) < len(kinds)):
        raise DecodeError(f"record has a step of an unknown kind, it knows {len(kinds)}")

    def counted(name: str, most: int) -> Int:
        if name not in columns:
            return np.zeros(columns.total, np.int64)
        return np.clip(columns.whole(name), 0, most)

    return StepTable(
        number=_step_numbers(columns),
        period_seconds=period,
        **{f"{name}_seconds": clocked(name) for name in CLOCKS},
        ended=_ended(ended, columns, started),
        items=columns.real("items") if "items" in columns else np.full(columns.total, np.nan),
        kind=kind,
        kinds=kinds,
        accounts={
            name.removeprefix(ACCOUNT): account(name)
            for name in columns
            if name.startswith(ACCOUNT)
        },
        ran=counted("ran", limits.MAX_COUNT),
        calls=counted("calls", limits.MAX_COUNT),
        argument_size=counted("argument_size", limits.MAX_COUNT),
    )


def _kinds(messages: Sequence[pb.Chunk]) -> tuple[str, ...]:
    """Those of one of the messages: messages that follow each other have the same."""
    kinds = messages[0].kinds
    limits.few("step kinds", len(kinds), limits.MAX_LISTED)
    return tuple(map(limits.text, kinds)) or ("train",)


def _ended(seconds: Float, columns: StackedColumns, started: Sequence[float]) -> Float:
    """(rows of all,) Unix seconds at which steps ended: counted from the start of their record."""
    ended = np.empty_like(seconds)
    first = 0
    for end, began in zip(columns.ends, started, strict=True):
        np.cumsum(seconds[first:end], out=ended[first:end])
        ended[first:end] += began
        first = end
    return ended


def _decode_signals(opened: Sequence[Opened]) -> SignalTable:
    tables = [of.message.signals for of in opened]
    if not any(tables):
        return no_signals()
    columns = StackedColumns("signal", tables, ("time", "row"))
    row = columns.whole("row")
    if len(opened) > 1:
        row = np.minimum(row, columns.repeat([of.end_row for of in opened]))
    return SignalTable(
        time=limits.durations("time", columns.whole("time") / 1e6),
        row=row,
        values={name: columns.real(name) for name in columns if name not in ("time", "row")},
    )


def _decode_events(opened: Sequence[Opened]) -> Iterator[Event]:
    """Those of a kind that this version knows."""
    for of in opened:
        for message in of.message.events:
            event = decode_event(message)
            if event is not None:
                late = event.row > of.end_row and len(opened) > 1
                yield replace(event, row=of.end_row) if late else event


def _decode_environment(message: pb.Chunk) -> Environment:
    found = message.environment
    text = limits.text
    for what in ("versions", "devices", "limits", "collectors"):
        limits.few(what, len(getattr(found, what)), limits.MAX_LISTED)
    return Environment(
        # Sorted: a protobuf map has another order in each process, and reports would differ.
        versions={text(name): text(found.versions[name]) for name in sorted(found.versions)},
        devices=tuple((text(device.name), text(device.kind)) for device in found.devices),
        limits=limits.numbers(found.limits),
        collectors=tuple(
            CollectorState(
                text(state.name),
                cast(CollectorStatus, state.status if state.status in _STATUSES else "failed"),
                text(state.reason),
            )
            for state in found.collectors
        ),
        worker_index=min(found.worker.index, limits.MAX_WORKERS),
        worker_count=max(1, min(found.worker.count, limits.MAX_WORKERS)),
    )


@dataclass(frozen=True, slots=True)
class Opened:
    """What a record says of itself."""

    message: pb.Chunk
    """For `decoding.py`."""
    session: str
    sequence: int
    first_row: int
    end_row: int
    """Steps that the session finished up to its end, as far as the record tells."""
    unpacked_bytes: int

    def follows(self, before: Opened) -> bool:
        """Whether nothing lies between the two, and both count the kinds of steps alike."""
        return (
            self.sequence == before.sequence + 1
            and self.first_row == before.end_row
            and self.session == before.session
            and self.message.kinds == before.message.kinds
        )


def open_record(record: bytes) -> Opened:
    """Unpack the bytes of one record.

    Raises:
      DecodeError: The bytes are no chunk, claim too much, or come from a newer version.
    """
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    try:
        raw = unpacker.decompress(record, limits.MAX_CHUNK_BYTES)
        if unpacker.unconsumed_tail:
            raise DecodeError(f"record unpacks to more than {limits.MAX_CHUNK_BYTES} bytes")
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
    limits.few("events", len(message.events), limits.MAX_EVENTS)
    first_row = message.first_row
    return Opened(
        message=message,
        session=limits.text(message.session),
        sequence=message.sequence,
        first_row=first_row,
        end_row=first_row + (message.steps[0].rows if message.steps else 0),
        unpacked_bytes=len(raw),
    )
