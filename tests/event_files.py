"""Event files for tests: chunks of ours, the user's scalars, and damage."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2

from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.event_file.checksum import masked_crc32c
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME, tag
from tb_slowdown_plugin.records.types import Chunk, Environment, Event, SignalTable, StepTable
from tb_slowdown_plugin.records.types import no_signals as _no_signals

STARTED = 1_795_000_000.0


def frame(payload: bytes) -> bytes:
    """One record of an event file."""
    length = len(payload).to_bytes(8, "little")
    return b"".join(
        (
            length,
            masked_crc32c(length).to_bytes(4, "little"),
            payload,
            masked_crc32c(payload).to_bytes(4, "little"),
        )
    )


def version_event() -> bytes:
    return event_pb2.Event(wall_time=STARTED, file_version="brain.Event:2").SerializeToString()


def chunk_event(
    chunk: Chunk,
    *,
    payload: bytes | None = None,
    plugin: str = PLUGIN_NAME,
    shape: Sequence[int] = (),
) -> bytes:
    value = summary_pb2.Summary.Value(
        tag=tag(chunk.session, chunk.sequence),
        metadata=summary_pb2.SummaryMetadata(
            plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name=plugin, content=b"\x01"),
            data_class=summary_pb2.DATA_CLASS_TENSOR,
        ),
        tensor=tensor_pb2.TensorProto(
            dtype=types_pb2.DT_STRING,
            tensor_shape=tensor_shape_pb2.TensorShapeProto(
                dim=[tensor_shape_pb2.TensorShapeProto.Dim(size=size) for size in shape]
            ),
            string_val=[encode(chunk) if payload is None else payload],
        ),
    )
    wall_time = float(chunk.steps.ended[-1]) if len(chunk.steps) else chunk.started
    return event_pb2.Event(
        wall_time=wall_time, step=chunk.sequence, summary=summary_pb2.Summary(value=[value])
    ).SerializeToString()


def scalar_event(name: str, step: int, number: float) -> bytes:
    value = summary_pb2.Summary.Value(
        tag=name,
        metadata=summary_pb2.SummaryMetadata(
            plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="scalars"),
            data_class=summary_pb2.DATA_CLASS_SCALAR,
        ),
        tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, float_val=[number]),
    )
    return event_pb2.Event(
        wall_time=STARTED + step, step=step, summary=summary_pb2.Summary(value=[value])
    ).SerializeToString()


def write_events(folder: Path, events: Iterable[bytes], *, number: int = 0) -> Path:
    """An event file in a folder; `number` orders several of them."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"events.out.tfevents.{1_795_000_000 + number}.test.{number}.v2"
    with path.open("wb") as file:
        file.write(frame(version_event()))
        for event in events:
            file.write(frame(event))
    return path


def write_chunks(folder: Path, chunks: Iterable[Chunk], *, number: int = 0) -> Path:
    """An event file of ours in a folder (pass LOGDIR/run/slowdown)."""
    return write_events(folder, map(chunk_event, chunks), number=number)


def make_steps(
    count: int,
    *,
    first: int = 0,
    seconds: float = 0.1,
    started: float = STARTED,
    accounts: dict[str, float] | None = None,
    seed: int | None = None,
) -> StepTable:
    """Steps of equal length, or (with a seed) of lengths that vary by 10%; whole microseconds."""
    period = np.full(count, seconds)
    if seed is not None:
        period = np.random.default_rng(seed).normal(seconds, seconds / 10, count).clip(1e-6)
    period = np.rint(period * 1e6) / 1e6
    return StepTable(
        number=np.arange(first, first + count),
        period_seconds=period,
        inside_seconds=np.rint(period * 0.9e6) / 1e6,
        process_cpu_seconds=np.rint(period * 0.8e6) / 1e6,
        thread_cpu_seconds=np.rint(period * 0.7e6) / 1e6,
        ended=started + np.cumsum(period),
        items=np.full(count, np.nan),
        kind=np.zeros(count, np.int64),
        kinds=("train",),
        accounts={name: np.full(count, value) for name, value in (accounts or {}).items()},
    )


def rows_of(steps: StepTable, first: int, last: int) -> StepTable:
    """Rows `first` up to (not including) `last`."""
    part = slice(first, last)
    return StepTable(
        number=steps.number[part],
        period_seconds=steps.period_seconds[part],
        inside_seconds=steps.inside_seconds[part],
        process_cpu_seconds=steps.process_cpu_seconds[part],
        thread_cpu_seconds=steps.thread_cpu_seconds[part],
        ended=steps.ended[part],
        items=steps.items[part],
        kind=steps.kind[part],
        kinds=steps.kinds,
        accounts={name: values[part] for name, values in steps.accounts.items()},
    )


def split(
    steps: StepTable,
    *,
    session: str = "0123abcd",
    chunk_rows: int = 256,
    started: float = STARTED,
    signals: SignalTable | None = None,
    events: Sequence[Event] = (),
    environment: Environment | None = None,
    cuts: Sequence[int] | None = None,
) -> list[Chunk]:
    """The chunks that a writer would make of a session, cut at `cuts` or every so many rows."""
    total = len(steps)
    inner = range(chunk_rows, total, chunk_rows) if cuts is None else cuts
    edges = [0, *inner, total]
    chunks: list[Chunk] = []
    for sequence, (first, last) in enumerate(pairwise(edges)):
        is_last = sequence == len(edges) - 2
        part = rows_of(steps, first, last)
        chunks.append(
            Chunk(
                session=session,
                sequence=sequence,
                started=started if first == 0 else float(steps.ended[first - 1]),
                first_row=first,
                steps=part,
                signals=_signals_of(signals, first, last, is_last),
                events=tuple(
                    e for e in events if first <= e.row < last or (is_last and e.row >= last)
                ),
                environment=environment if sequence == 0 else None,
            )
        )
    return chunks


def _signals_of(signals: SignalTable | None, first: int, last: int, is_last: bool) -> SignalTable:
    if signals is None:
        return _no_signals()
    part = (signals.row >= first) & ((signals.row < last) | is_last)
    return SignalTable(
        signals.time[part],
        signals.row[part],
        {
            name: values[part]
            for name, values in signals.values.items()
            if not np.isnan(values[part]).all()
        },
    )
