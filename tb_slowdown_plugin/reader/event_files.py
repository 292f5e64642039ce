"""Our records in a local logdir, straight from its event files.

For the command, not for TensorBoard: TensorBoard has read the files already. Without
TensorFlow its own loader checks each byte's CRC in Python at about 5 MB/s, keeps the
user's images in memory, and says nothing of files that end early or can't be read.
Reading the framing alone is bound by the disk, and tells.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.reader.framing import RecordFile
from tb_slowdown_plugin.reader.provider import records_in_event
from tb_slowdown_plugin.reader.record import Record

_MARK: Final = "tfevents"
"""TensorBoard takes every file with this in its name for an event file."""


@dataclass(frozen=True, slots=True)
class EventFile:
    """An event file and the TensorBoard run that it belongs to."""

    tensorboard_run: str
    path: Path

    @property
    def size(self) -> int:
        """Bytes in it now; 0 if that can't be told."""
        try:
            return self.path.stat().st_size
        except OSError:
            return 0


def find_event_files(logdir: Path) -> list[EventFile]:
    """All event files below a directory, in the order in which TensorBoard reads them.

    Symbolic links are followed, each directory is visited once.
    """
    found: list[EventFile] = []
    visited: set[tuple[int, int]] = set()
    for folder, subfolders, names in os.walk(logdir, followlinks=True):
        here = Path(folder)
        status = here.stat()
        if (status.st_dev, status.st_ino) in visited:
            subfolders.clear()
            continue
        visited.add((status.st_dev, status.st_ino))
        subfolders.sort()
        run = here.relative_to(logdir).as_posix()
        found.extend(EventFile(run, here / name) for name in sorted(names) if _MARK in name)
    return found


def read_records(
    file: EventFile, warn: Callable[[str], None], advance: Callable[[int], None]
) -> Iterator[Record]:
    """Our records in one event file; what can't be read is told in sentences.

    Args:
      file: Which file.
      warn: Gets one sentence for each thing that is wrong with the file.
      advance: Gets the bytes read since its last call.
    """
    name = (Path(file.tensorboard_run) / file.path.name).as_posix()
    try:
        with file.path.open("rb", buffering=1 << 20) as opened:
            records = RecordFile(opened, os.fstat(opened.fileno()).st_size)
            before = 0
            broken = 0
            for raw in records:
                try:
                    yield from records_in_event(file.tensorboard_run, raw)
                except ProtobufError:
                    broken += 1
                advance(records.read_bytes - before)
                before = records.read_bytes
    except OSError as error:
        warn(f"event file {name} can't be read: {error.strerror}")
        return
    if broken:
        warn(f"event file {name} has {broken} damaged {'event' if broken == 1 else 'events'}")
    damage = records.damage
    if damage is None:
        return
    if damage.what == "truncated":
        warn(
            f"event file {name} ends in the middle of a record "
            f"({damage.unreadable_bytes} bytes unreadable): it is being written, or its "
            "writer was stopped"
        )
    elif damage.what == "corrupt":
        warn(
            f"event file {name} is damaged at byte {damage.offset} "
            f"({damage.unreadable_bytes} bytes unreadable)"
        )
    else:
        warn(f"event file {name} is no event file ({damage.unreadable_bytes} bytes unreadable)")
