"""Records into event files of their own: local ones by Python, remote ones by TensorFlow.

Not through `tf.io.TFRecordWriter`: it writes without giving up Python's global lock, so that
a disk that takes 2 s for a write stopped the training for 2 s (measured). `GFile` gives it up,
but aborts the process where a write comes back while the interpreter shuts down (measured).
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf

from tb_slowdown_plugin.records.event_file.checksum import frame
from tb_slowdown_plugin.records.event_file.envelope import event_of, first_event
from tb_slowdown_plugin.records.metadata import (
    DIRECTORY,
    WORKER_PREFIX,
)
from tb_slowdown_plugin.writer.output.outbox import (
    OutboxRecord,
)


class EventFileSink:
    """Writes into LOGDIR/slowdown/, for worker k of several LOGDIR/slowdown/worker-k/.

    The file is opened at the first record, and a new one after each failure. A
    failed write leaves nothing behind: half a record would hide that the rest
    of its file is sound, and a full disk would fill with empty files. The file
    name has no host name in it.
    """

    def __init__(self, logdir: str, session: str, worker_index: int = 0) -> None:
        parts = [logdir, DIRECTORY]
        if worker_index:
            parts.append(f"{WORKER_PREFIX}{worker_index}")
        self._logdir = logdir
        self._directory = os.path.join(*parts)  # noqa: PTH118, may be gs://...
        self._is_local = "://" not in logdir
        self._session = session
        self._file: Any = None
        self._path = ""
        self._records = self._sound_bytes = self._files = 0
        self._was_there = False

    def write(self, records: Sequence[OutboxRecord]) -> None:
        """Appends the records and flushes them to the operating system."""
        if self._file is None:
            self._open(records[0].unix_seconds)
        elif self._is_local and not Path(self._path).exists():
            raise FileNotFoundError("the log directory was deleted")
        self._append(
            event_of(each.data, each.tag, each.sequence, each.unix_seconds) for each in records
        )
        self._files += self._records == 0
        self._records += len(records)

    def close(self) -> None:
        """Closes the file, and cuts off what a failed write has left at its end."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            file.close()
        finally:
            if self._is_local:
                self._mend(Path(self._path))

    def _open(self, unix_seconds: float) -> None:
        # Who deletes a log directory does not want it back.
        if self._was_there and self._is_local and not Path(self._logdir).exists():
            raise FileNotFoundError("the log directory was deleted")
        if self._is_local:
            Path(self._directory).mkdir(parents=True, exist_ok=True)
        else:
            tf.io.gfile.makedirs(self._directory)
        self._was_there = True
        suffix = f".{self._files}" if self._files else ""
        name = f"events.out.tfevents.{int(unix_seconds):010d}.{self._session}{suffix}"
        self._path = os.path.join(self._directory, name)  # noqa: PTH118
        self._records = 0
        if self._is_local:
            self._file = Path(self._path).open("wb", buffering=0)  # noqa: SIM115, kept open
        else:
            self._file = tf.io.gfile.GFile(self._path, "wb")
        self._sound_bytes = 0
        self._append([first_event(unix_seconds)])

    def _append(self, events: Iterable[bytes]) -> None:
        whole = b"".join(map(frame, events))
        if self._is_local:
            rest = memoryview(whole)
            while rest:  # a disk that is nearly full takes a part
                rest = rest[self._file.write(rest) :]
        else:
            self._file.write(whole)
            self._file.flush()
        self._sound_bytes += len(whole)

    def _mend(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            if not self._records:
                path.unlink()
            elif path.stat().st_size > self._sound_bytes:
                os.truncate(path, self._sound_bytes)
