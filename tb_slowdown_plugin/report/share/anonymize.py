"""Event files with nothing but records of ours, made anew from what was decoded."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.records.checksum import frame
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.metadata import PLUGIN_NAME, SCHEMA_VERSION, tag
from tb_slowdown_plugin.records.types import Chunk

_VERSION: Final = "brain.Event:2"
"""TensorFlow's `events_writer.cc` begins each event file with it."""


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
