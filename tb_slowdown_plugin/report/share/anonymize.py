"""Event files and captures as they may leave the machine.

Event files are made anew from what was decoded, with nothing but records of ours; captures are
without the name of the host that took them.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.profiler.xplane.wire import MalformedError, fields
from tb_slowdown_plugin.records.checksum import frame
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME, SCHEMA_VERSION, tag
from tb_slowdown_plugin.records.types import Chunk

_VERSION: Final = "brain.Event:2"
"""TensorFlow's `events_writer.cc` begins each event file with it."""

_PLANES: Final = 1
"""Of an XSpace; its other fields are errors and warnings, which name hosts, and host names."""

_AT_ONCE: Final = 1 << 20


def first_event(wall_time: float) -> bytes:
    """The framed event with which an event file begins."""
    from tensorboard.compat.proto import event_pb2

    event = event_pb2.Event(wall_time=wall_time, file_version=_VERSION)
    return frame(event.SerializeToString())


def chunk_event(chunk: Chunk) -> bytes:
    """The framed event of a chunk: encoded anew, so it holds what `Chunk` has and nothing else."""
    from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, types_pb2

    value = summary_pb2.Summary.Value(
        tag=tag(chunk.session, chunk.sequence),
        metadata=summary_pb2.SummaryMetadata(
            plugin_data=summary_pb2.SummaryMetadata.PluginData(
                plugin_name=PLUGIN_NAME, content=bytes((SCHEMA_VERSION,))
            ),
            data_class=summary_pb2.DATA_CLASS_TENSOR,
        ),
        tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[encode(chunk)]),
    )
    event = event_pb2.Event(
        wall_time=last_time(chunk),
        step=chunk.sequence,
        summary=summary_pb2.Summary(value=[value]),
    )
    return frame(event.SerializeToString())


def last_time(chunk: Chunk) -> float:
    """Unix seconds of the last thing in a chunk."""
    return float(chunk.steps.ended[-1]) if len(chunk.steps) else chunk.started


def planes_of(path: Path) -> Iterator[bytes]:
    """The planes of a capture's file, in pieces that together are a whole file again.

    Args:
      path: Of an `.xplane.pb` file; names inside its planes are not looked at.

    Raises:
      UnreadableError: It is no trace.
      OSError: It can't be opened.
    """
    if not path.stat().st_size:
        raise UnreadableError("the file is empty: the capture was not finished")
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        begin = 0
        with memoryview(mapped) as data:
            try:
                for field in fields(data, 0, len(data)):
                    if field.number == _PLANES and not field.cut:
                        for at in range(begin, field.end, _AT_ONCE):
                            yield bytes(data[at : min(at + _AT_ONCE, field.end)])
                    begin = field.end
            except MalformedError as error:
                raise UnreadableError(f"the file {error}") from error
