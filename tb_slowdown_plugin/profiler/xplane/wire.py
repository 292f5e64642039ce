"""The protobuf wire format, walked in place: nothing is copied, nothing is believed.

A profiler's file is up to 100 MB of small messages. Parsing it with generated
classes would take ten times its size; here a message is a stretch of a buffer.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

Buffer: TypeAlias = memoryview

VARINT: Final = 0
FIXED64: Final = 1
BYTES: Final = 2
FIXED32: Final = 5
_MOST_VARINT_BYTES: Final = 10


class MalformedError(Exception):
    """These bytes are no protobuf message; the text completes "the file ..."."""


class Field(NamedTuple):
    """One field of a message."""

    number: int
    wire: int
    value: int
    """Of a varint or a fixed number; for BYTES where the content begins."""
    end: int
    """Where the next field begins: for BYTES where the content ends, cut at the message's end."""
    cut: bool
    """The content claims to be longer than the message that holds it."""


def varint(data: Buffer, at: int, end: int) -> tuple[int, int]:
    """The number at `at`, and where the next thing begins.

    >>> varint(memoryview(bytes([0xAC, 0x02])), 0, 2)
    (300, 2)

    Raises:
      MalformedError: It does not end before `end`, or is longer than ten bytes.
    """
    value = shift = 0
    for here in range(at, min(end, at + _MOST_VARINT_BYTES)):
        byte = data[here]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, here + 1
        shift += 7
    raise MalformedError("ends within a number" if at + _MOST_VARINT_BYTES > end else "is no trace")


def fields(data: Buffer, at: int, end: int) -> Iterator[Field]:
    """The fields of the message between `at` and `end`, in the order in which they stand.

    Raises:
      MalformedError: What stands there is no message.
    """
    while at < end:
        tag, at = varint(data, at, end)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise MalformedError("is no trace")
        if wire == VARINT:
            value, at = varint(data, at, end)
            yield Field(number, wire, value, at, cut=False)
        elif wire == BYTES:
            size, at = varint(data, at, end)
            stop = min(at + size, end)
            yield Field(number, wire, at, stop, cut=at + size > end)
            at = stop
        elif wire in (FIXED64, FIXED32):
            width = 8 if wire == FIXED64 else 4
            if at + width > end:
                raise MalformedError("ends within a number")
            bits = int.from_bytes(data[at : at + width], "little")
            at += width
            yield Field(number, wire, bits, at, cut=False)
        else:
            raise MalformedError("is no trace")


def text(data: Buffer, field: Field, most: int = 1000) -> str:
    """The text of a BYTES field, of a longer one its beginning."""
    if field.wire != BYTES:
        raise MalformedError("is no trace")
    return bytes(data[field.value : min(field.end, field.value + most)]).decode("utf-8", "replace")


def signed(value: int) -> int:
    """A varint as the int64 that it is meant to be.

    >>> signed((1 << 64) - 1)
    -1
    """
    return value - (1 << 64) if value >> 63 else value


def real(bits: int) -> float:
    """The double of a FIXED64 field."""
    number: float = struct.unpack("<d", bits.to_bytes(8, "little"))[0]
    return number
