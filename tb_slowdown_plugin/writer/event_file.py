"""Records into event files of their own, through TensorFlow's record writer."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Final

import tensorflow as tf
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import (
    DATA_CLASS_TENSOR,
    Summary,
    SummaryMetadata,
)
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.types_pb2 import DT_STRING

from tb_slowdown_plugin.records.metadata import (
    DIRECTORY,
    PLUGIN_NAME,
    SCHEMA_VERSION,
    WORKER_PREFIX,
)

METADATA: Final = SummaryMetadata(
    plugin_data=SummaryMetadata.PluginData(
        plugin_name=PLUGIN_NAME, content=bytes([SCHEMA_VERSION])
    ),
    data_class=DATA_CLASS_TENSOR,
)
"""On every record: TensorBoard may drop the first one of a tag."""


def summary_of(record: bytes, tag: str) -> Any:
    """The `Summary` message that carries one record."""
    tensor = TensorProto(dtype=DT_STRING, string_val=[record])
    return Summary(value=[Summary.Value(tag=tag, tensor=tensor, metadata=METADATA)])


class EventFileSink:
    """Writes into LOGDIR/slowdown/, for worker k of several LOGDIR/slowdown/worker-k/.

    The file is opened at the first record, and a new one after each failure:
    what a failed write left at the end of a file would hide what follows it.
    The file name has no host name in it.
    """

    def __init__(self, logdir: str, session: str, worker_index: int = 0) -> None:
        directory = Path(DIRECTORY)
        if worker_index:
            directory /= f"{WORKER_PREFIX}{worker_index}"
        self._logdir = logdir
        self._directory = os.path.join(logdir, directory)  # noqa: PTH118, may be gs://...
        self._session = session
        self._file: Any = None
        self._path = ""
        self._opened = 0

    def write(self, record: bytes, tag: str, sequence: int, unix_seconds: float) -> None:
        """Appends one record and flushes it to the operating system."""
        if self._file is None:
            self._open(unix_seconds)
        elif "://" not in self._path and not Path(self._path).exists():
            raise FileNotFoundError("the log directory was deleted")
        event = Event(wall_time=unix_seconds, step=sequence, summary=summary_of(record, tag))
        self._file.write(event.SerializeToString())
        self._file.flush()

    def close(self) -> None:
        """Closes the file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def _open(self, unix_seconds: float) -> None:
        # Who deletes a log directory does not want it back.
        if self._opened and "://" not in self._logdir and not Path(self._logdir).exists():
            raise FileNotFoundError("the log directory was deleted")
        tf.io.gfile.makedirs(self._directory)
        suffix = f".{self._opened}" if self._opened else ""
        name = f"events.out.tfevents.{int(unix_seconds):010d}.{self._session}{suffix}"
        self._path = os.path.join(self._directory, name)  # noqa: PTH118
        self._file = tf.io.TFRecordWriter(self._path)
        self._opened += 1
        version = Event(wall_time=unix_seconds, file_version="brain.Event:2")
        self._file.write(version.SerializeToString())
        self._file.flush()
