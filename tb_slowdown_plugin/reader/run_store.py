"""The runs that a TensorBoard data provider has, read once and then only added to."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import BOUNDS, Bounds, RunBuilder
from tb_slowdown_plugin.reader.build.session_builder import OutOfOrder
from tb_slowdown_plugin.reader.event_files import Looked, find_damage
from tb_slowdown_plugin.reader.extent import Extent, end_tags, extent_from, extent_of
from tb_slowdown_plugin.reader.provider import ProviderRecords, Tag
from tb_slowdown_plugin.reader.scalars.scalar_catalogue import ScalarCatalogue
from tb_slowdown_plugin.records.metadata import DIRECTORY, run_name
from tb_slowdown_plugin.records.types import Run

_MOST_BYTES: Final = 1 << 30
"""Columns kept of all runs together; a run of 1,000,000 steps takes about 120 MB."""

_READ_SECONDS: Final = 30.0
"""TensorBoard looks for new records every 5 s; what it does not show after these it hides."""

_FIRST_ROWS: Final = 1_000_000
"""Rows of a first part: it is read and analyzed within 3 s of CPU (docs/scale.md)."""
_FIRST_SHARE: Final = 0.25
"""A first part is at most so much of a run: what is nearly read is rather read to its end."""
_TAGS_AT_ONCE: Final = 64
"""Of a first part: after so many tags its rows are counted; 130,000 steps in records of 256."""

LIVE_SECONDS: Final = 60.0
"""A running monitor writes a record at least every 30 s."""

Hyperparameters: TypeAlias = Mapping[str, Mapping[str, str | float | bool]]
"""Run -> name -> value."""

_Tags = Mapping[str, Mapping[str, Tag]]


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a run has come."""

    version: Hashable
    """Changes when more of the run can be read."""
    reported: float
    """Unix seconds at which its last record was written."""
    source: Literal["records", "scalars"] = "records"
    """What it is read from."""

    def is_recent(self, now: float) -> bool:
        """Whether its last record is as new as that of a run that goes on.

        Args:
          now: Unix seconds.
        """
        return now - self.reported < LIVE_SECONDS


@dataclass(frozen=True, slots=True)
class Listing:
    """What can be read now."""

    runs: Mapping[str, Seen]
    """By name, ascending."""
    other_runs: int
    """Runs that TensorBoard shows and that have neither records nor enough scalars."""


@dataclass(slots=True)
class _Entry:
    """What has been read of one run."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    builder: RunBuilder | None = None
    read: dict[tuple[str, str], int] = field(default_factory=dict)
    """(TensorBoard run, tag) -> last sequence read."""
    looked: dict[str, Looked] = field(default_factory=dict)
    """By the names of the run's event files."""
    run: Run | None = None
    """Joined from what has been read, with what is wrong with its files."""
    part: Run | None = None
    """What there is of it while the rest waits to be read, or is being read; else None."""
    progress: float | None = None
    """Share of the tags that is read until all are, else None."""


class RunStore:
    """Reads runs through a data provider, for many threads.

    A run is read in full when it is first asked for, or a first part of it that is enough
    for a first look; after that only the tags that have grown by the last listing,
    which takes longer than to read them. The least
    recently used runs are dropped when the columns of all together exceed
    `most_bytes`; the run just asked for never is.

    Args:
      provider: `TBContext.data_provider`.
      logdir: `TBContext.logdir`: its event files are looked over for damage, which
        the provider hides. None or "" where there is no single local one.
      most_bytes: Columns to keep.
      bounds: How much of one run is kept step by step.
      first_rows: How many rows the first part of a long run has, at least.
      clock: Unix seconds, as the files' times of change.
    """

    def __init__(
        self,
        provider: Any,
        logdir: str | None = None,
        *,
        most_bytes: int = _MOST_BYTES,
        bounds: Bounds = BOUNDS,
        first_rows: int = _FIRST_ROWS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._logdir = Path(logdir).expanduser() if logdir and "://" not in logdir else None
        self._source = ProviderRecords(provider)
        self._scalars = ScalarCatalogue(provider)
        self._most_bytes = most_bytes
        self._bounds = bounds
        self._first_rows = first_rows
        self._clock = clock
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry] = OrderedDict()
        self._listed: Mapping[str, _Tags] = {}
        """Run -> its TensorBoard runs: asking for them takes 45 ms in the Rust loader, and in
        the other one 9 us a tag, of which there is one for each 8 records."""

    def listing(self) -> Listing:
        """The runs that there are now; no record is read for it."""
        by_run: dict[str, dict[str, Mapping[str, Tag]]] = {}
        listed = self._source.tags()
        for tensorboard_run, tags in listed.items():
            by_run.setdefault(run_name(tensorboard_run)[0], {})[tensorboard_run] = tags
        self._listed = by_run
        all_runs = self._source.all_runs()
        scalars = self._scalars.listing(all_runs, by_run)
        runs = {name: _seen(by_run[name]) for name in by_run}
        runs |= {
            name: Seen(each.version, each.last.time, "scalars") for name, each in scalars.items()
        }
        drawn = {writer for each in scalars.values() for writer in each.tags}
        names = {run_name(run)[0] for run in all_runs if run not in drawn}
        return Listing(
            runs=dict(sorted(runs.items())),
            other_runs=len(names - by_run.keys()),
        )

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        """How far some of the listed runs have come; without those that can't be read.

        Only the first and the last records of a run are read: a list of 1,000 runs
        takes 16,000 records of them, whatever their length.
        """
        names = list(names)
        wanted = {
            run: end_tags(tags)
            for name in names
            for run, tags in self._listed.get(name, {}).items()
        }
        found = self._scalars.extents(names)
        of_runs = groupby(self._source.read(wanted), _name_of)
        for name, records in of_runs:
            extent = extent_from(records)
            if extent is None:
                with contextlib.suppress(KeyError):
                    extent = extent_of(self.run(name))
            if extent is not None:
                found[name] = extent
        return found

    def run(self, name: str) -> Run:
        """All of a run that was there when runs were last listed: the same object until then.

        A run that was not listed then is looked for.

        Raises:
          KeyError: There is no such run.
        """
        if name in self._scalars:
            return self._scalars.run(name)
        entry = self._entry(name)
        with entry.lock:
            self._read(name, entry)
            run = self._joined(name, entry)
        self._make_room(name)
        return run

    def first_part(self, name: str) -> Run | None:
        """What comes first in a run that takes long to read, of all its workers.

        None if all of it is read, which a shorter one is then; `run` reads the rest, and until
        it has, this is the same object.

        Raises:
          KeyError: There is no such run.
        """
        if name in self._scalars:
            return None
        entry = self._entry(name)
        if entry.part is not None:
            return entry.part
        with entry.lock:
            if entry.part is None:
                self._read(name, entry, is_part_enough=True)
            part = entry.part
        self._make_room(name)
        return part

    def _entry(self, name: str) -> _Entry:
        with self._lock:
            entry = self._entries.setdefault(name, _Entry())
            self._entries.move_to_end(name)
            return entry

    def progress(self, name: str) -> float | None:
        """Share of a run's records that is read, from the first one until all are, else None."""
        entry = self._entries.get(name)
        return None if entry is None else entry.progress

    def unjudged(self, name: str) -> Run | list[Record]:
        """All records of a listed run, or the run where it is drawn from scalars; none are kept.

        Raises:
          KeyError: There is no such run.
        """
        if name in self._scalars:
            return self._scalars.run(name)
        return list(self._source.read(self._listed[name]))

    def hyperparameters(self, names: Collection[str]) -> Hyperparameters:
        """Of these runs: what the program logged for the HParams plugin, in a run or below it."""
        found: dict[str, dict[str, str | float | bool]] = {}
        for writer, logged in sorted(self._source.hyperparameters().items()):
            for name in (writer, *(str(parent) for parent in PurePosixPath(writer).parents)):
                if name in names:
                    found[name] = {**logged, **found.get(name, {})}
                    break
        return found

    def _read(self, name: str, entry: _Entry, *, is_part_enough: bool = False) -> None:
        """Reads what there is more of a run, or only until `entry.part` is worth a look."""
        if name not in self._listed:
            self.listing()
        tags = self._listed.get(name, {})
        now = {(run, tag): found.last_sequence for run in tags for tag, found in tags[run].items()}
        if not now:
            with self._lock:
                self._entries.pop(name, None)
            raise KeyError(name)
        if entry.builder is None or entry.read.keys() - now.keys():  # the run was made anew
            entry.builder = RunBuilder(name, self._bounds)
            entry.read, entry.looked, entry.run = {}, {}, None
            entry.part = None
        grown = [key for key, last in now.items() if entry.read.get(key) != last]
        # As they were written: what is read first is of all workers.
        grown.sort(key=lambda key: tags[key[0]][key[1]].last_time)
        part = None
        try:
            while grown:
                is_early = is_part_enough and len(grown) > (1.0 - _FIRST_SHARE) * len(now)
                if is_early and entry.builder.rows >= self._first_rows:
                    entry.progress = 1.0 - len(grown) / len(now)
                    part = replace(entry.builder.run(), read_fraction=entry.progress)
                    return
                count = _TAGS_AT_ONCE if is_early else len(grown)
                some, grown = grown[:count], grown[count:]
                entry.run = None
                entry.builder.add(self._read_tags(entry, some, len(grown)))
                entry.read |= {key: now[key] for key in some}
        except OutOfOrder:
            records = sorted(self._read_tags(entry, now, 0), key=lambda r: r.sequence)
            entry.builder = RunBuilder(name, self._bounds)
            entry.builder.add(records)
            entry.read = now
        finally:  # a first part is shown until the rest is read
            entry.part = part
            if part is None:
                entry.progress = None

    def _joined(self, name: str, entry: _Entry) -> Run:
        """The run of all that was read."""
        if not entry.builder:
            raise KeyError(name)
        if entry.run is None:
            found = entry.builder.run()
            runs = {run for run, _ in entry.read}
            damage = self._find_damage(runs, entry.builder, entry.looked)
            entry.run = replace(found, notes=(*found.notes, *damage))
        return entry.run

    def _read_tags(
        self, entry: _Entry, keys: Collection[tuple[str, str]], left: int
    ) -> Iterator[Record]:
        """The records of some tags; `entry.progress` follows, of these and those read before."""
        begun: set[tuple[str, str]] = set()
        before = len(entry.read.keys() - keys)
        entry.progress = before / (before + len(keys) + left)
        for record in self._source.read(_by_run(keys)):
            begun.add((record.tensorboard_run, record.tag))
            entry.progress = (before + len(begun)) / (before + len(keys) + left)
            yield record

    def _find_damage(
        self, tensorboard_runs: set[str], builder: RunBuilder, looked: dict[str, Looked]
    ) -> Iterator[str]:
        # The user's own files may be large, and are his; ".." could lead anywhere.
        ours = [
            run
            for run in sorted(tensorboard_runs)
            if DIRECTORY in run.split("/") and ".." not in run.split("/")
        ]
        if self._logdir is None or not ours:
            return
        for run in ours:
            yield from find_damage(self._logdir, run, looked)
        if len(ours) < len(tensorboard_runs):
            return
        hidden = sum(file.records - 1 for file in looked.values()) - builder.records
        written = max((file.written for file in looked.values()), default=0.0)
        if hidden > 0 and self._clock() - written > _READ_SECONDS:
            yield (
                f"TensorBoard does not show {hidden} {'record' if hidden == 1 else 'records'} "
                "of the run's event files: it is still reading them, or stops at one that is "
                "damaged; `tbslow report` reads what is left."
            )

    def _make_room(self, needed: str) -> None:
        with self._lock:
            sizes = {
                name: entry.builder.nbytes
                for name, entry in self._entries.items()
                if entry.builder is not None
            }
            total = sum(sizes.values())
            for name, size in sizes.items():
                if total <= self._most_bytes:
                    break
                if name != needed:
                    del self._entries[name]
                    total -= size


def _seen(tags: _Tags) -> Seen:
    found = [tag for of_run in tags.values() for tag in of_run.values()]
    version = (len(found), sum(tag.last_sequence for tag in found))
    return Seen(version, max(tag.last_time for tag in found))


def _name_of(record: Record) -> str:
    return run_name(record.tensorboard_run)[0]


def _by_run(keys: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    by_run: dict[str, list[str]] = {}
    for run, tag in keys:
        by_run.setdefault(run, []).append(tag)
    return by_run
