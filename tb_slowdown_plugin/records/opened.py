"""A record, unpacked and parsed, before its numbers are decoded."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from google.protobuf.message import DecodeError as ProtobufError

from tb_slowdown_plugin.errors import DecodeError
from tb_slowdown_plugin.records import limits as bounds
from tb_slowdown_plugin.records import slowdown_pb2 as pb
from tb_slowdown_plugin.records.dictionary import DICTIONARY
from tb_slowdown_plugin.records.metadata import SCHEMA_VERSION


@dataclass(frozen=True, slots=True)
class Opened:
    """What a record says of itself."""

    message: pb.Chunk
    """For `decoding.py`."""
    session: str
    sequence: int
    first_row: int
    end_row: int
    """Steps that the session finished up to its end, as far as the record tells."""
    unpacked_bytes: int

    def follows(self, before: Opened) -> bool:
        """Whether nothing lies between the two, and both count the kinds of steps alike."""
        return (
            self.sequence == before.sequence + 1
            and self.first_row == before.end_row
            and self.session == before.session
            and self.message.kinds == before.message.kinds
        )


def open_record(record: bytes) -> Opened:
    """Unpack the bytes of one record.

    Raises:
      DecodeError: The bytes are no chunk, claim too much, or come from a newer version.
    """
    unpacker = zlib.decompressobj(zdict=DICTIONARY)
    try:
        raw = unpacker.decompress(record, bounds.MAX_CHUNK_BYTES)
        if unpacker.unconsumed_tail:
            raise DecodeError(f"record unpacks to more than {bounds.MAX_CHUNK_BYTES} bytes")
        if not unpacker.eof:
            raise DecodeError("record ends early")
        message = pb.Chunk.FromString(raw)
    except (zlib.error, ProtobufError) as error:
        raise DecodeError(f"record is no chunk: {error}") from error
    if message.schema > SCHEMA_VERSION:
        raise DecodeError(
            f"record has schema {message.schema}, this version reads up to {SCHEMA_VERSION}: "
            "upgrade tb-slowdown-plugin"
        )
    bounds.few("events", len(message.events), bounds.MAX_EVENTS)
    first_row = message.first_row
    return Opened(
        message=message,
        session=bounds.text(message.session),
        sequence=message.sequence,
        first_row=first_row,
        end_row=first_row + (message.steps[0].rows if message.steps else 0),
        unpacked_bytes=len(raw),
    )
