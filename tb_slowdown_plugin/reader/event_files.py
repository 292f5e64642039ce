"""Our records in a local logdir, straight from its event files.

For the command, not for TensorBoard: TensorBoard has read the files already. Without
TensorFlow its own loader checks each byte's CRC in Python at about 5 MB/s, keeps the
user's images in memory, and says nothing of files that end early or can't be read.
Reading the framing alone is bound by the disk, and tells.

The framing says where records begin, and what is wrong with a file. A record is its length (8
bytes), a masked CRC-32C of the length (4), the bytes, and a masked CRC-32C of the bytes (4), all
little-endian (TensorFlow's `core/lib/io/record_writer.h`). Only the length's checksum is verified
here: chunks carry a checksum of their own (zlib's Adler-32).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final, Literal

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.provider import records_in_event
from tb_slowdown_plugin.records.event_file.checksum import masked_crc32c
from tb_slowdown_plugin.records.metadata import DIRECTORY

_MARK: Final = "tfevents"
"""TensorBoard takes every file with this in its name for an event file."""

_HEADER: Final = struct.Struct("<QI")

_FOOTER_BYTES: Final = 4

MAX_RECORD_BYTES: Final = 1 << 30
"""TensorFlow refuses larger protos; more is a damaged or foreign file."""

_MEMO_SIZE: Final = 4096


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


@dataclass(frozen=True, slots=True)
class Damaged:
    """A file or folder that can't be read, or not to its end."""

    sentence: str
    """What is wrong, for a person; with its name relative to the logdir."""
    ours: bool
    """It holds, or by its place should hold, records of ours."""


def is_event_file(name: str) -> bool:
    """Whether TensorBoard takes a file of that name for an event file."""
    return _MARK in name


def find_event_files(logdir: Path, report: Callable[[Damaged], None]) -> list[EventFile]:
    """All event files below a directory, in the order in which TensorBoard reads them.

    Symbolic links are followed, each directory is visited once.

    Args:
      logdir: Where to look.
      report: Told of each folder that can't be listed.
    """

    def tell(error: OSError) -> None:
        name = Path(os.fsdecode(error.filename or "")).relative_to(logdir).as_posix()
        report(Damaged(f"folder {name} can't be read: {error.strerror}", True))

    found: list[EventFile] = []
    visited: set[str] = set()
    for folder, subfolders, names in os.walk(logdir, onerror=tell, followlinks=True):
        real = os.path.realpath(folder)
        if real in visited:
            subfolders.clear()
            continue
        visited.add(real)
        subfolders.sort()
        here = Path(folder)
        run = here.relative_to(logdir).as_posix()
        found.extend(
            EventFile(run, here / name)
            for name in sorted(names)
            if _MARK in name and (here / name).is_file()  # opening a pipe would wait for ever
        )
    return found


def read_records(
    file: EventFile,
    report: Callable[[Damaged], None],
    advance: Callable[[int], None],
    pass_on: Callable[[str, bytes], None] | None = None,
) -> Iterator[Record]:
    """Our records in one event file.

    Args:
      file: Which file.
      report: Told of each thing that is wrong with the file.
      advance: Gets the bytes read since its last call.
      pass_on: Gets each event without a record of ours: its TensorBoard run and its bytes.
    """
    name = (Path(file.tensorboard_run) / file.path.name).as_posix()
    ours = DIRECTORY in file.tensorboard_run.split("/")
    problems: list[str] = []
    try:
        with file.path.open("rb", buffering=1 << 20) as opened:
            framed = RecordFile(opened, os.fstat(opened.fileno()).st_size)
            damaged_events, before = 0, 0
            for raw in framed:
                has_records = False
                try:
                    for record in records_in_event(file.tensorboard_run, raw):
                        ours = has_records = True
                        yield record
                    if pass_on is not None and not has_records:
                        pass_on(file.tensorboard_run, raw)
                except DecodeError:
                    damaged_events += 1
                advance(framed.read_bytes - before)
                before = framed.read_bytes
        if damaged_events:
            problems.append(
                f"has {damaged_events} damaged {'event' if damaged_events == 1 else 'events'}"
            )
        if framed.damage is not None:
            problems.append(_describe(framed.damage))
    except OSError as error:
        problems.append(f"can't be read: {error.strerror}")
    for problem in problems:
        report(Damaged(f"event file {name} {problem}", ours))


@dataclass(slots=True)
class Looked:
    """How far an event file was looked over."""

    whole_bytes: int = 0
    """Up to which byte its records are whole."""
    records: int = 0
    """How many those are, the file's version among them."""
    written: float = 0.0
    """Unix seconds at which it was last written to."""


def find_damage(logdir: Path, tensorboard_run: str, looked: dict[str, Looked]) -> list[str]:
    """What is wrong with the event files of one run's folder, in sentences.

    TensorBoard passes over what it can't read without a word. Only the framing is
    looked at, about 3 us a record.

    Args:
      logdir: A local one.
      tensorboard_run: The folder in it.
      looked: File -> how far it was looked over; kept for the next look at files
        that grow.
    """
    sentences: list[str] = []
    try:
        folder = logdir / tensorboard_run.lstrip("/")
        paths = [path for path in sorted(folder.iterdir()) if path.is_file()]
    except OSError:  # not a local logdir, or gone
        return []
    for path in paths:
        if _MARK in path.name:
            name = (Path(tensorboard_run) / path.name).as_posix()
            try:
                with path.open("rb") as opened:
                    state = os.fstat(opened.fileno())
                    known = looked.get(name, Looked())
                    if known.whole_bytes > state.st_size:
                        known = Looked()
                    file = RecordFile(opened, state.st_size, known.whole_bytes)
                    damage = file.check()
            except OSError as error:
                sentences.append(f"event file {name} can't be read: {error.strerror}")
            else:
                records = known.records + file.records
                looked[name] = Looked(file.read_bytes, records, state.st_mtime)
                if damage is not None:
                    sentences.append(f"event file {name} {_describe(damage)}")
    return sentences


def _describe(damage: Damage) -> str:
    unreadable = f"({damage.unreadable_bytes} bytes unreadable)"
    match damage.what:
        case "truncated":
            return (
                f"ends in the middle of a record {unreadable}: it is still being written, or its "
                "writer was stopped"
            )
        case "corrupt":
            return f"is damaged at byte {damage.offset} {unreadable}"
        case "foreign":
            return f"is no event file {unreadable}"


@dataclass(frozen=True, slots=True)
class Damage:
    """From which byte on a file can't be read, and why."""

    what: Literal["truncated", "corrupt", "foreign"]
    """truncated: the last record is not complete, perhaps because it is being written;
    corrupt: a length that is not what was written; foreign: not one record is readable."""
    offset: int
    unreadable_bytes: int


class RecordFile:
    """The records of one event file, in order; `damage` tells, once they are read, what is wrong.

    Args:
      file: Open for reading in binary mode, at its beginning.
      size: Bytes in it; what is appended later is not read.
      start: Where to begin: at a byte where a record begins.
    """

    def __init__(self, file: BinaryIO, size: int, start: int = 0) -> None:
        self._file = file
        self._size = size
        self.damage: Damage | None = None
        self.read_bytes = start
        """Up to which byte records were handed out."""
        self.records = 0
        """How many those were."""
        if start:
            file.seek(start)

    def __iter__(self) -> Iterator[bytes]:
        for length in self._lengths():
            record = self._file.read(length + _FOOTER_BYTES)
            if len(record) < length + _FOOTER_BYTES:
                return self._end("truncated")
            self.read_bytes += _HEADER.size + len(record)
            self.records += 1
            yield record[:length]
        return None

    def check(self) -> Damage | None:
        """Passes over all records without reading them; what is wrong with the file."""
        for length in self._lengths():
            self._file.seek(length + _FOOTER_BYTES, os.SEEK_CUR)
            self.read_bytes += _HEADER.size + length + _FOOTER_BYTES
            self.records += 1
        return self.damage

    def _lengths(self) -> Iterator[int]:
        """The length of each record that is whole; the file stands at its first byte."""
        checked: set[bytes] = set()  # lengths repeat, and a checksum in Python takes 2 us
        while self.read_bytes < self._size:
            header = self._file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return self._end("truncated")
            length, checksum = _HEADER.unpack(header)
            if header not in checked:
                if checksum != masked_crc32c(header[:8]) or length > MAX_RECORD_BYTES:
                    return self._end("corrupt" if self.read_bytes else "foreign")
                if len(checked) < _MEMO_SIZE:
                    checked.add(header)
            if self.read_bytes + _HEADER.size + length + _FOOTER_BYTES > self._size:
                return self._end("truncated")
            yield length
        return None

    def _end(self, what: Literal["truncated", "corrupt", "foreign"]) -> None:
        self.damage = Damage(what, self.read_bytes, self._size - self.read_bytes)
