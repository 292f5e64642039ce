"""The framing of event files: where records begin, and what is wrong with a file.

A record is its length (8 bytes), a masked CRC-32C of the length (4), the bytes, and
a masked CRC-32C of the bytes (4), all little-endian (TensorFlow's
`core/lib/io/record_writer.h`). Only the length's checksum is verified here: chunks
carry a checksum of their own (zlib's Adler-32).
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final, Literal

from tb_slowdown_plugin.records.checksum import masked_crc32c

_HEADER: Final = struct.Struct("<QI")
_FOOTER_BYTES: Final = 4
MAX_RECORD_BYTES: Final = 1 << 30
"""TensorFlow refuses larger protos; more is a damaged or foreign file."""

_MEMO_SIZE: Final = 4096


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
