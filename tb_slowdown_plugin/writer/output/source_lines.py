"""Hashes of the user's lines that a record names, so that a fix knows them again."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from tb_slowdown_plugin.collectors.hooks.installed_code import is_installed
from tb_slowdown_plugin.collectors.hooks.source_location import FILES
from tb_slowdown_plugin.records.source_lines import (
    FILE_HASH,
    HASH,
    SOURCE_LINE,
    hash_file,
    hash_line,
)
from tb_slowdown_plugin.records.types import Fact, Trace, What

_NUMBER: Final = re.compile(r":(\d+)")
_MAX_LINES: Final = 200
"""Lines of one session: 60 bytes each before they are compressed."""
_MAX_TEXTS: Final = 2_000
"""Different texts that are searched for places."""


class SourceLines:
    """Tells the hash of each of the user's lines once, when a record first names it.

    Files that were changed after `since` are left out: what ran was another text.

    Args:
      since: Unix seconds of the monitor's start.
    """

    def __init__(self, since: float) -> None:
        self._since = since
        self._searched: set[str] = set()
        self._told: set[str] = set()
        self._files: dict[str, float] = {}

    def describe(self, events: Iterable[What], accounts: Iterable[str]) -> Iterator[Fact]:
        """The lines that these events and accounts name and that no earlier ones did."""
        for text in (*accounts, *(text for what in events for text in _texts_of(what))):
            if text in self._searched or len(self._searched) >= _MAX_TEXTS:
                continue
            self._searched.add(text)
            for short, number in _find_places(text):
                place = f"{short}:{number}"
                if place in self._told or len(self._told) >= _MAX_LINES:
                    continue
                self._told.add(place)
                file = FILES[short]
                line = self._line(file, number)
                if line.strip():
                    numbers = {HASH: hash_line(line), FILE_HASH: self._hash_file(file)}
                    yield Fact(SOURCE_LINE, place, numbers)

    def _hash_file(self, file: str) -> float:
        if file not in self._files:
            self._files[file] = hash_file("".join(linecache.getlines(file)))
        return self._files[file]

    def _line(self, file: str, number: int) -> str:
        """The text of a line of the user's own, "" where that is not known."""
        if not file or is_installed(file):
            return ""
        try:
            changed = Path(file).stat().st_mtime
        except OSError:
            return ""
        return linecache.getline(file, number) if changed <= self._since else ""


def _texts_of(what: What) -> tuple[str, ...]:
    match what:
        case Trace():
            return (what.location,)
        case Fact():
            return (what.subject,)
    return ()


def _find_places(text: str) -> Iterator[tuple[str, int]]:
    """Files that this process has named, and lines of them, in a text."""
    for found in _NUMBER.finditer(text):
        before = text[: found.start()]
        names = [name for name in list(FILES) if before.endswith(name)]
        if names:
            yield max(names, key=len), int(found[1])
