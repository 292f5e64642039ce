"""One run of a data provider as it is read: its first part, all of it, and then what has grown."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeAlias

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import Bounds, RunBuilder
from tb_slowdown_plugin.reader.build.session_builder import OutOfOrder
from tb_slowdown_plugin.reader.event_files import Looked, find_damage
from tb_slowdown_plugin.reader.provider import ProviderRecords, Tag
from tb_slowdown_plugin.records.metadata import DIRECTORY
from tb_slowdown_plugin.records.run import Run

FIRST_ROWS: Final = 1_000_000
"""Rows of a first part: it is read and analyzed within 3 s of CPU (docs/scale.md)."""
_FIRST_SHARE: Final = 0.25
"""A first part is at most so much of a run: what is nearly read is rather read to its end."""
_TAGS_AT_ONCE: Final = 64
"""Of a first part: after so many tags its rows are counted; 130,000 steps in records of 256."""
_READ_SECONDS: Final = 30.0
"""TensorBoard looks for new records every 5 s; what it does not show after these it hides."""

Tags: TypeAlias = Mapping[str, Mapping[str, Tag]]
"""TensorBoard run -> tag -> how far it has come."""

_Key: TypeAlias = tuple[str, str]
"""TensorBoard run and tag."""


class RunReading:
    """What was read of one run, and reads more of it.

    Whoever reads, or joins what was read, holds `lock`; `part`, `progress`, and `nbytes` may be
    looked at without it.

    Args:
      name: Of the run.
      source: Where its records are.
      bounds: How much of it is kept step by step.
      logdir: Its event files are looked over for damage; None where that can't be.
      clock: Unix seconds, as the files' times of change.
    """

    def __init__(
        self,
        name: str,
        source: ProviderRecords,
        bounds: Bounds,
        logdir: Path | None,
        clock: Callable[[], float],
    ) -> None:
        self.lock: Final = threading.Lock()
        self.part: Run | None = None
        """What comes first, while the rest waits to be read, or is being read; else None."""
        self.progress: float | None = None
        """Share of the tags that is read, from the first one until all are, else None."""
        self._name = name
        self._source = source
        self._bounds = bounds
        self._logdir = logdir
        self._clock = clock
        self._builder = RunBuilder(name, bounds)
        self._last: dict[_Key, int] = {}
        """The last sequence that was read."""
        self._looked: dict[str, Looked] = {}
        """By the names of the run's event files."""
        self._joined: Run | None = None

    @property
    def nbytes(self) -> int:
        """Bytes in columns."""
        return self._builder.nbytes

    def read(self, tags: Tags, *, first_rows: int | None = None) -> None:
        """Reads what there is more of the run.

        Args:
          tags: Of the run, at least one, as they are now.
          first_rows: That many of a run that takes long to read are enough: `part` has them then.
        """
        now = {(run, tag): found.last_sequence for run in tags for tag, found in tags[run].items()}
        if self._last.keys() - now.keys():  # the run was made anew
            self._begin_anew()
        grown = [key for key, last in now.items() if self._last.get(key) != last]
        # As they were written: what is read first is of all workers.
        grown.sort(key=lambda key: tags[key[0]][key[1]].last_time)
        part = None
        try:
            if first_rows is not None:
                grown = self._read_early(grown, now, first_rows)
                part = self._first_part(len(grown), len(now), first_rows)
            if part is None and grown:
                self._add(grown, now, 0)
        except OutOfOrder:
            records = sorted(self._read_tags(now, 0), key=lambda record: record.sequence)
            self._begin_anew()
            self._builder.add(records)
            self._last = now
        finally:  # a first part is shown until the rest is read
            self.part = part
            self.progress = None if part is None else part.read_fraction

    def run(self) -> Run:
        """The run of all that was read: the same object until more is.

        Raises:
          KeyError: There is no record in it.
        """
        if not self._builder:
            raise KeyError(self._name)
        if self._joined is None:
            found = self._builder.run()
            self._joined = replace(found, notes=(*found.notes, *self._find_damage()))
        return self._joined

    def _begin_anew(self) -> None:
        self._builder = RunBuilder(self._name, self._bounds)
        self._last, self._looked = {}, {}
        self._joined = self.part = None

    def _read_early(
        self, grown: list[_Key], now: Mapping[_Key, int], first_rows: int
    ) -> list[_Key]:
        """Reads the first tags, some at once, and gives those that are left."""
        while self._is_early(len(grown), len(now)) and self._builder.rows < first_rows:
            some, grown = grown[:_TAGS_AT_ONCE], grown[_TAGS_AT_ONCE:]
            self._add(some, now, len(grown))
        return grown

    def _first_part(self, left: int, tags: int, first_rows: int) -> Run | None:
        if not self._is_early(left, tags) or self._builder.rows < first_rows:
            return None
        return replace(self._builder.run(), read_fraction=1.0 - left / tags)

    def _is_early(self, left: int, tags: int) -> bool:
        return left > (1.0 - _FIRST_SHARE) * tags

    def _add(self, keys: list[_Key], now: Mapping[_Key, int], left: int) -> None:
        self._joined = None
        self._builder.add(self._read_tags(keys, left))
        self._last |= {key: now[key] for key in keys}

    def _read_tags(self, keys: Collection[_Key], left: int) -> Iterator[Record]:
        """The records of some tags; `progress` follows, of these and those read before."""
        begun: set[_Key] = set()
        before = len(self._last.keys() - keys)
        self.progress = before / (before + len(keys) + left)
        for record in self._source.read(_by_run(keys)):
            begun.add((record.tensorboard_run, record.tag))
            self.progress = (before + len(begun)) / (before + len(keys) + left)
            yield record

    def _find_damage(self) -> Iterator[str]:
        # The user's own files may be large, and are his; ".." could lead anywhere.
        runs = {run for run, _ in self._last}
        ours = [
            run
            for run in sorted(runs)
            if DIRECTORY in run.split("/") and ".." not in run.split("/")
        ]
        if self._logdir is None or not ours:
            return
        for run in ours:
            yield from find_damage(self._logdir, run, self._looked)
        if len(ours) < len(runs):
            return
        hidden = sum(file.records - 1 for file in self._looked.values()) - self._builder.records
        written = max((file.written for file in self._looked.values()), default=0.0)
        if hidden > 0 and self._clock() - written > _READ_SECONDS:
            yield (
                f"TensorBoard does not show {hidden} {'record' if hidden == 1 else 'records'} "
                "of the run's event files: it is still reading them, or stops at one that is "
                "damaged; `tbslow report` reads what is left."
            )


def _by_run(keys: Iterable[_Key]) -> dict[str, list[str]]:
    by_run: dict[str, list[str]] = {}
    for run, tag in keys:
        by_run.setdefault(run, []).append(tag)
    return by_run
