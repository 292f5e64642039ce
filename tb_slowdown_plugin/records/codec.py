"""A chunk to the bytes of one record and back: protobuf, packed by zlib.

Writing is here, reading in `decoding.py`; zlib knows the usual names already
(`metadata.py:DICTIONARY`). Bytes that are read come from strangers: size, rows, shapes and times
are bounded (`limits.py`), and everything that is wrong with them is one `DecodeError`.
"""

from __future__ import annotations

import zlib

import numpy as np

from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.columns import (
    ACCOUNT,
    encode_count,
    encode_real,
    encode_seconds,
    encode_whole,
)
from tb_slowdown_plugin.records.decoding import (
    decode_together,
    open_record,
)
from tb_slowdown_plugin.records.events import encode_event
from tb_slowdown_plugin.records.metadata import (
    DICTIONARY,
    SCHEMA_VERSION,
)
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
    ended_before = np.concatenate(([chunk.started], steps.ended[:-1]))
    gaps = steps.ended - ended_before - steps.period_seconds
    gaps[np.abs(gaps) < 1e-3] = 0.0
    # What is rounded off one period is carried to the next: thousands of short ones add up right.
    periods = np.diff(np.rint(np.cumsum(steps.period_seconds) * 1e6), prepend=0.0) / 1e6
    seconds = {
        "period": periods,
        "inside": np.minimum(steps.inside_seconds, periods),
        "process_cpu": steps.process_cpu_seconds,
        "thread_cpu": steps.thread_cpu_seconds,
    }
    if gaps.any():
        seconds["gap"] = gaps
    seconds |= {ACCOUNT + name: booked for name, booked in steps.accounts.items() if booked.any()}
    columns = [encode_count("number", steps.number), *encode_seconds(seconds)]
    if steps.ran.any():
        columns += encode_whole({"ran": steps.ran, "calls": steps.calls})
    if steps.argument_size.any():
        columns += encode_whole({"argument_size": steps.argument_size})
    if steps.kind.any():
        columns += encode_whole({"kind": steps.kind})
    if not np.isnan(steps.items).all():
        columns += encode_real({"items": steps.items})
    return columns


def _encode_signals(signals: SignalTable) -> list[pb.Column]:
    micros = np.rint(signals.time * 1e6).astype(np.int64)
    columns = [encode_count("time", micros), encode_count("row", signals.row)]
    if signals.values:
        columns += encode_real(signals.values)
    return columns


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
