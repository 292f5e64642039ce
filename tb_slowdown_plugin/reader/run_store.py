"""The runs that a TensorBoard data provider has, read once and then only added to."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import Any, Final, Literal, TypeAlias

from tb_slowdown_plugin.reader.build.record_batch import Record
from tb_slowdown_plugin.reader.build.run_builder import BOUNDS, Bounds
from tb_slowdown_plugin.reader.extent import Extent, end_tags, extent_from, extent_of
from tb_slowdown_plugin.reader.provider import ProviderRecords, Tag
from tb_slowdown_plugin.reader.run_reading import FIRST_ROWS, RunReading, Tags
from tb_slowdown_plugin.reader.scalars.scalar_catalogue import ScalarCatalogue
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.run import Run

_MOST_BYTES: Final = 1 << 30
"""Columns kept of all runs together; a run of 1,000,000 steps takes about 120 MB."""

LIVE_SECONDS: Final = 60.0
"""A running monitor writes a record at least every 30 s."""

Hyperparameters: TypeAlias = Mapping[str, Mapping[str, str | float | bool]]
"""Run -> name -> value."""


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


class RunStore:
    """Reads runs through a data provider, for many threads.

    A run is read in full when it is first asked for, or a first part of it that is enough
    for a first look; after that only what has grown by the last listing, which takes longer
    than to read it. The least recently used runs are dropped when the columns of all
    together exceed `most_bytes`; the run just asked for never is.

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
        first_rows: int = FIRST_ROWS,
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
        self._readings: OrderedDict[str, RunReading] = OrderedDict()
        self._listed: Mapping[str, Tags] = {}
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
        reading = self._reading(name)
        with reading.lock:
            reading.read(self._tags(name))
            run = reading.run()
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
        reading = self._reading(name)
        if reading.part is not None:
            return reading.part
        with reading.lock:
            if reading.part is None:
                reading.read(self._tags(name), first_rows=self._first_rows)
            part = reading.part
        self._make_room(name)
        return part

    def progress(self, name: str) -> float | None:
        """Share of a run's records that is read, from the first one until all are, else None."""
        reading = self._readings.get(name)
        return None if reading is None else reading.progress

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

    def _reading(self, name: str) -> RunReading:
        with self._lock:
            if name not in self._readings:
                self._readings[name] = RunReading(
                    name, self._source, self._bounds, self._logdir, self._clock
                )
            self._readings.move_to_end(name)
            return self._readings[name]

    def _tags(self, name: str) -> Tags:
        """The tags of a run, which is looked for if it was not listed."""
        if name not in self._listed:
            self.listing()
        tags = self._listed.get(name, {})
        if not any(tags.values()):
            with self._lock:
                self._readings.pop(name, None)
            raise KeyError(name)
        return tags

    def _make_room(self, needed: str) -> None:
        with self._lock:
            sizes = {name: reading.nbytes for name, reading in self._readings.items()}
            total = sum(sizes.values())
            for name, size in sizes.items():
                if total <= self._most_bytes:
                    break
                if name != needed:
                    del self._readings[name]
                    total -= size


def _seen(tags: Tags) -> Seen:
    found = [tag for of_run in tags.values() for tag in of_run.values()]
    version = (len(found), sum(tag.last_sequence for tag in found))
    return Seen(version, max(tag.last_time for tag in found))


def _name_of(record: Record) -> str:
    return run_name(record.tensorboard_run)[0]
