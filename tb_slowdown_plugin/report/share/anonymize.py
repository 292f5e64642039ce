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
from tb_slowdown_plugin.records.codec import encode
from tb_slowdown_plugin.records.event_file.checksum import frame
from tb_slowdown_plugin.records.metadata import tag
from tb_slowdown_plugin.records.types import Chunk

_PLANES: Final = 1
"""Of an XSpace; its other fields are errors and warnings, which name hosts, and host names."""

_AT_ONCE: Final = 1 << 20


def framed_start(wall_time: float) -> bytes:
    """The framed event with which an event file begins."""
    from tb_slowdown_plugin.records.event_file.envelope import first_event

    return frame(first_event(wall_time))


def framed_chunk(chunk: Chunk) -> bytes:
    """The framed event of a chunk: encoded anew, so it holds what `Chunk` has and nothing else."""
    from tb_slowdown_plugin.records.event_file.envelope import event_of

    name = tag(chunk.session, chunk.sequence)
    return frame(event_of(encode(chunk), name, chunk.sequence, last_time(chunk)))


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
