"""A profiler's file (XSpace) as planes, lines and columns of events.

The fields are those of TensorFlow's `xplane.proto`, by number. Whatever the file
says of itself is bounded: see the limits below. What is cut is told in `notes`.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np

from tb_slowdown_plugin.profiler.xplane.events import EVENTS_TAG, Events, decode, spans, words_of
from tb_slowdown_plugin.profiler.xplane.wire import (
    BYTES,
    FIXED64,
    VARINT,
    Buffer,
    Field,
    MalformedError,
    fields,
    real,
    signed,
    text,
)

MOST_BYTES: Final = 1 << 29
"""A longer file is refused: XProf itself takes minutes for it."""
MOST_EVENTS: Final = 4_000_000
"""About 140 MB of file, and 1 GB of memory while they are sorted. What lies beyond is left out."""
MOST_PLANES: Final = 1_000
MOST_LINES: Final = 10_000
MOST_NAMES: Final = 200_000
"""Of all planes."""
MOST_NAME_BYTES: Final = 1 << 25
MOST_FIELDS: Final = 2_000_000
"""Outside of events: about 2 s of work. Most are names: a small model's capture has 1,500."""
_MOST_STATS: Final = 64
"""Of one event; TensorFlow writes at most 20."""
_MOST_PARTS: Final = 16
"""Fields of one stat; there are two."""
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}".encode()
"""What a decoder of text puts in place of bytes that are no text."""


class UnreadableError(Exception):
    """A file is no trace that can be read; the text is a sentence for a person."""


class Line(NamedTuple):
    """One thread, or one stream of a device."""

    name: str
    offset_ps: int
    """From the beginning of the trace."""
    events: Events


@dataclass(slots=True)
class Plane:
    """One device, or the host."""

    data: Buffer
    name: str = ""
    names: dict[int, str] = field(default_factory=dict)
    """Event metadata: id -> name."""
    stat_names: dict[int, str] = field(default_factory=dict)
    stats: dict[str, Any] = field(default_factory=dict)
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where its lines stand."""

    def stats_of(self, at: int, end: int) -> dict[str, Any]:
        """The stats of the event whose stats begin at `at`."""
        found: dict[str, Any] = {}
        if not at:
            return found
        try:
            for part in islice(fields(self.data, at, end), _MOST_STATS):
                if part.number == 4 and part.wire == BYTES:
                    found.update([self.stat(part)])
        except MalformedError:
            pass  # what was read before it is good
        return found

    def stat(self, field_: Field) -> tuple[str, Any]:
        """Name and value of one stat."""
        name, value = "", None  # type: str, str | float | None
        for part in islice(fields(self.data, field_.value, field_.end), _MOST_PARTS):
            if part.number == 1 and part.wire == VARINT:
                name = self.stat_names.get(part.value, "")
            elif part.number == 2 and part.wire == FIXED64:
                value = real(part.value)
            elif part.number == 3 and part.wire == VARINT:
                value = part.value
            elif part.number == 4 and part.wire == VARINT:
                value = signed(part.value)
            elif part.number == 5 and part.wire == BYTES:
                value = text(self.data, part)
            elif part.number == 7 and part.wire == VARINT:
                value = self.stat_names.get(part.value, "")
        return name, value


class Space:
    """An open file.

    Args:
      path: Of an `.xplane.pb` file.

    Raises:
      UnreadableError: It is none, or too large.
      OSError: It can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.notes: list[str] = []
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise UnreadableError(
                f"the trace has {size / 1e6:,.0f} MB, and at most {MOST_BYTES / 1e6:,.0f} MB are "
                "read; capture fewer steps"
            )
        if size < 8:
            raise UnreadableError("the file is empty: the capture was not finished")
        with path.open("rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._data = memoryview(self._map)
        self._words = words_of(self._data)
        self._events = 0
        self._lines = 0
        self._names = 0
        self._name_bytes = 0
        self._fields_left = MOST_FIELDS
        self.planes: list[Plane] = []
        self.is_damaged = False
        """It ends too early, or is no trace from some place on."""
        try:
            for part in self._fields(0, len(self._data)):
                self._take(part)
        except MalformedError as error:
            if not any(plane.spans for plane in self.planes):
                raise UnreadableError(f"the file {error}") from error
            self.is_damaged = True
            self._note(f"The file {error}: what comes after that place is missing.")
        if not self.planes:
            raise UnreadableError("the file holds no trace")

    def damage(self) -> str:
        """What is wrong with a damaged file in which nothing can be read; completes "capture: "."""
        sample = bytes(self._data[: 1 << 16])
        if sample.count(_REPLACEMENT) > len(sample) // 100:
            return (
                "the file is damaged: something copied it as text (UTF-8), which can't be undone; "
                "copy the capture again"
            )
        return "the file is damaged: it ends too early, and no event of it can be read"

    def lines(self, plane: Plane, which: Iterable[int] | None = None) -> Iterator[tuple[int, Line]]:
        """Lines of a plane with their numbers, each read when it is asked for; all, or some."""
        for number in range(len(plane.spans)) if which is None else which:
            line = self._line(*plane.spans[number])
            if line is not None:
                yield number, line

    def line_names(self, plane: Plane) -> list[str]:
        """The names of a plane's lines, without their events; "" where a name can't be read."""
        return [self._line_name(at, end) for at, end in plane.spans]

    def _line_name(self, at: int, end: int) -> str:
        with contextlib.suppress(MalformedError):
            for part in self._fields(at, end):
                if part.number == 2 and part.wire == BYTES:
                    return text(self._data, part)
                if part.number > 3:
                    break  # fields stand in ascending order: events come after the name
        return ""

    def _take(self, part: Field) -> None:
        if part.number not in (1, 2, 3, 4):
            raise MalformedError("is no trace")
        if part.wire != BYTES:
            raise MalformedError("is no trace")
        if part.cut:
            self.is_damaged = True
            self._note("The file ends too early: the trace is not whole.")
        if part.number == 1 and len(self.planes) >= MOST_PLANES:
            self._note(f"More than {MOST_PLANES:,} planes: the others are left out.")
        elif part.number == 1:
            self.planes.append(self._plane(part.value, part.end))
        elif part.number == 3:
            self._note(f"The profiler warned: {text(self._data, part, 200)}")

    def _plane(self, at: int, end: int) -> Plane:
        plane = Plane(self._data)
        stats: list[Field] = []
        try:
            for part in self._fields(at, end):
                if part.wire != BYTES:
                    continue
                if part.cut:
                    self._note("The file ends too early: the trace is not whole.")
                if part.number == 2:
                    plane.name = text(self._data, part)
                elif part.number == 3 and self._lines >= MOST_LINES:
                    self._note(f"More than {MOST_LINES:,} lines: the others are left out.")
                elif part.number == 3:
                    self._lines += 1
                    plane.spans.append((part.value, part.end))
                elif part.number == 4:
                    self._name(plane.names, part)
                elif part.number == 5:
                    self._name(plane.stat_names, part)
                elif part.number == 6 and len(stats) < _MOST_STATS:
                    stats.append(part)
        except MalformedError as error:
            if not plane.name:
                raise
            self._note(f"A part of the trace {error}.")
        plane.stats.update(plane.stat(part) for part in stats)
        return plane

    def _name(self, names: dict[int, str], entry: Field) -> None:
        if self._names >= MOST_NAMES or self._name_bytes >= MOST_NAME_BYTES:
            self._note("The trace has more names than are read: the others are left out.")
            return
        for part in self._fields(entry.value, entry.end):
            if part.number == 2 and part.wire == BYTES:
                key, name = 0, ""
                for inner in self._fields(part.value, part.end):
                    if inner.number == 1 and inner.wire == VARINT:
                        key = inner.value
                    elif inner.number == 2 and inner.wire == BYTES:
                        name = text(self._data, inner)
                        if name.startswith("%"):  # a whole instruction of XLA: its result's name
                            name = name[1:].partition(" ")[0]
                names[key] = name
                self._names += 1
                self._name_bytes += len(name)

    def _line(self, at: int, end: int) -> Line | None:
        try:
            return self._read_line(at, end)
        except MalformedError:
            self._note("A line of the trace can't be read and is left out.")
            return None

    def _read_line(self, at: int, end: int) -> Line:
        name, offset_ps, odd = "", 0, 0
        found: list[Events] = []
        while at < end:
            if self._data[at] == EVENTS_TAG:
                begins, ends, at = spans(self._data, at, end, MOST_EVENTS - self._events)
                events, wrong = decode(self._words, begins, ends)
                odd += wrong
                self._events += len(begins)
                found.append(events)
                if self._events >= MOST_EVENTS:
                    self._note(f"More than {MOST_EVENTS:,} events: the others are left out.")
                    break
                if at < end and self._data[at] == EVENTS_TAG:
                    break
                continue
            part = next(self._fields(at, end))
            if part.number == 3 and part.wire == VARINT:
                offset_ps = signed(part.value) * 1000
            elif part.number == 2 and part.wire == BYTES:
                name = text(self._data, part)
            at = part.end
        if odd:
            self._note(f"{odd:,} events can't be read and are left out.")
        return Line(name, offset_ps, _join(found))

    def _fields(self, at: int, end: int) -> Iterator[Field]:
        """The fields of a message, as long as the file has not had more than any trace has."""
        for part in fields(self._data, at, end):
            self._fields_left -= 1
            if self._fields_left < 0:
                raise MalformedError(f"has more than {MOST_FIELDS:,} fields")
            yield part

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes and len(self.notes) < 20:
            self.notes.append(sentence)


def _join(parts: list[Events]) -> Events:
    if len(parts) == 1:
        return parts[0]
    none = [np.empty(0, np.int64)]
    columns = zip(*parts, strict=True) if parts else [none] * len(Events._fields)
    return Events(*(np.concatenate(list(column)) for column in columns))
