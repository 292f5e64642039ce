"""What carries a record in an event file: an `Event` with a `Summary` of TensorBoard's.

The monitor writes these, and a shared logdir is made of them again: TensorBoard, the reader, and
another version of this package rely on each field.
"""

from __future__ import annotations

from typing import Any, Final

from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import (
    DATA_CLASS_TENSOR,
    Summary,
    SummaryMetadata,
)
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_STRING

from tb_slowdown_plugin.records.metadata import PLUGIN_NAME, SCHEMA_VERSION

_FILE_VERSION: Final = "brain.Event:2"
"""TensorFlow's `events_writer.cc` begins each event file with it."""

_METADATA: Final = SummaryMetadata(
    plugin_data=SummaryMetadata.PluginData(
        plugin_name=PLUGIN_NAME, content=bytes([SCHEMA_VERSION])
    ),
    data_class=DATA_CLASS_TENSOR,
)
"""On every record: TensorBoard may drop the first one of a tag."""


def first_event(unix_seconds: float) -> bytes:
    """The event with which an event file begins."""
    event: bytes = Event(wall_time=unix_seconds, file_version=_FILE_VERSION).SerializeToString()
    return event


def event_of(record: bytes, tag: str, sequence: int, unix_seconds: float) -> bytes:
    """The event of one record.

    Args:
      record: As `codec.encode` makes it.
      tag: As `metadata.tag` makes it.
      sequence: Of the record in its session.
      unix_seconds: Of the last thing in it.
    """
    event: bytes = Event(
        wall_time=unix_seconds, step=sequence, summary=summary_of(record, tag)
    ).SerializeToString()
    return event


def summary_of(record: bytes, tag: str) -> Any:
    """The `Summary` message of one record."""
    tensor = TensorProto(dtype=DT_STRING, string_val=[record])
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=_METADATA)])
