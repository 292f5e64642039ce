"""A capture as it may leave the machine: without the name of the host that took it."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.profiler.xplane.space import UnreadableError
from tb_slowdown_plugin.profiler.xplane.wire import MalformedError, fields

_PLANES: Final = 1
"""Of an XSpace; its other fields are errors and warnings, which name hosts, and host names."""
_AT_ONCE: Final = 1 << 20


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
