"""A chunk to the bytes of one record and back: protobuf, packed by zlib with `dictionary.py`.

Reading takes bytes from strangers: size, rows, shapes and times are bounded (`bounds.py`),
and everything that is wrong with them is one `DecodeError`.
"""

from __future__ import annotations

import zlib

import numpy as np

from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import (
    ACCOUNT,
    encode_real,
    encode_seconds,
    encode_whole,
)
from tb_slowdown_plugin.records.decoding import decode_together
from tb_slowdown_plugin.records.dictionary import DICTIONARY
from tb_slowdown_plugin.records.events import encode_event
from tb_slowdown_plugin.records.metadata import SCHEMA_VERSION
from tb_slowdown_plugin.records.opened import open_record
from tb_slowdown_plugin.records.types import (
    Chunk,
    Environment,
    SignalTable,
)


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
    return decode_together([open_record(record)])


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
        encode_seconds(ACCOUNT + name, seconds)
        for name, seconds in steps.accounts.items()
        if seconds.any()
    )
    return columns


def _encode_signals(signals: SignalTable) -> list[pb.Column]:
    micros = np.rint(signals.time * 1e6).astype(np.int64)
    return [
        encode_whole("time", micros, differences=True),
        encode_whole("row", signals.row, differences=True),
        *(encode_real(name, values) for name, values in signals.values.items()),
    ]


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
