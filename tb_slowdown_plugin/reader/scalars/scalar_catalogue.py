"""Runs without our records, drawn from the scalars that TensorBoard has read.

For the list only the last point of each scalar is asked for, and only of runs without
records. All points of a run are read when the run itself is asked for. TensorBoard keeps about
1,000 points a tag: the time between two of those it kept is still right.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from tb_slowdown_plugin.reader.extent import Extent
from tb_slowdown_plugin.reader.scalars.scalar_points import MOST_SECONDS, MOST_STEP
from tb_slowdown_plugin.reader.scalars.scalar_run import (
    FEWEST_POINTS,
    run_from_scalars,
    run_without_steps,
)
from tb_slowdown_plugin.reader.scalars.scalar_series import (
    SCALARS_PLUGIN,
    ScalarSeries,
    choose_listed,
    group_writers,
    is_by_epoch,
    meaning_of,
)
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.run import Run

_ALL: Final = 1 << 30
"""`downsample` must be given; TensorBoard keeps fewer points of a tag."""
_MOST_TAGS: Final = 64
"""Of a run that are read: those of training first."""
_WHOLE_SECONDS: Final = 60.0
_MOST_RUNS: Final = 64
"""Runs kept after they were read; one takes up to 1 MB."""


@dataclass(frozen=True, slots=True)
class LastPoint:
    """The last point of a scalar."""

    step: int
    time: float


_Points: TypeAlias = Mapping[str, Mapping[str, LastPoint]]
"""Writer -> tag -> its last point."""


@dataclass(frozen=True, slots=True)
class ScalarRun:
    """What the list knows of a run without records."""

    tags: Mapping[str, tuple[str, ...]]
    """Writer -> its tags."""
    followed: tuple[str, str]
    """The writer and tag of training that was written last."""
    last: LastPoint
    """Of that tag."""

    @property
    def version(self) -> Hashable:
        """Changes when there are more points."""
        return sum(map(len, self.tags.values())), self.last.step, self.last.time


class ScalarCatalogue:
    """Runs from scalars, for many threads.

    Args:
      provider: `TBContext.data_provider`.
      clock: Seconds.
    """

    def __init__(self, provider: Any, clock: Callable[[], float] = time.monotonic) -> None:
        self._provider = provider
        self._clock = clock
        self._lock = threading.Lock()
        self._listed: Mapping[str, ScalarRun] = {}
        self._whole_at = -math.inf
        self._runs: OrderedDict[str, tuple[Hashable, Run]] = OrderedDict()

    def listing(
        self, tensorboard_runs: Iterable[str], recorded: Collection[str]
    ) -> Mapping[str, ScalarRun]:
        """The runs that scalars can be drawn from, by the name that the user knows.

        All scalars of a run are looked at when it is new, and once a minute. In between one of
        each run is followed: it takes 0.1 ms a scalar in TensorBoard's Python loader.

        Args:
          tensorboard_runs: All that TensorBoard knows.
          recorded: Runs with records: they have scalars, too, which nobody needs.
        """
        groups = group_writers(tensorboard_runs)
        taken = {base for writer, base in groups.items() if run_name(writer)[0] in recorded}
        taken.update(recorded)
        writers: dict[str, list[str]] = {}
        for writer, base in groups.items():
            if base not in taken:
                writers.setdefault(base, []).append(writer)
        known: Mapping[str, ScalarRun] = self._listed
        if self._clock() - self._whole_at >= _WHOLE_SECONDS:
            known, self._whole_at = {}, self._clock()
        listed = self._follow({base: run for base, run in known.items() if base in writers})
        listed.update(self._look({b: of for b, of in writers.items() if b not in listed}))
        self._listed = dict(sorted(listed.items()))
        return self._listed

    def _follow(self, known: Mapping[str, ScalarRun]) -> dict[str, ScalarRun]:
        """The known runs with the newest point of the tag that is followed."""
        followed = [run.followed for run in known.values()]
        points = self._read_last({writer for writer, _ in followed}, {tag for _, tag in followed})
        found = {}
        for base, run in known.items():
            last = points.get(run.followed[0], {}).get(run.followed[1])
            if last is not None:
                found[base] = run if last == run.last else replace(run, last=last)
        return found

    def _look(self, writers: Mapping[str, Collection[str]]) -> dict[str, ScalarRun]:
        """The runs of these writers that have scalars with enough points."""
        points = self._read_last({writer for of in writers.values() for writer in of}, None)
        found = {}
        for base, of in writers.items():
            tags = {writer: points[writer] for writer in of if points.get(writer)}
            if not any(
                p.step >= FEWEST_POINTS - 1 for each in tags.values() for p in each.values()
            ):
                continue
            times = {w: {tag: p.time for tag, p in each.items()} for w, each in tags.items()}
            followed = choose_listed(times)
            names = {writer: tuple(each) for writer, each in tags.items()}
            found[base] = ScalarRun(names, followed, tags[followed[0]][followed[1]])
        return found

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        """How far some of the listed runs have come."""
        listed = self._listed
        return {
            name: Extent(1, listed[name].last.step, None, listed[name].last.step, math.nan)
            for name in names
            if name in listed
        }

    def __contains__(self, name: str) -> bool:
        return name in self._listed

    def run(self, name: str) -> Run:
        """A listed run, as far as it had come when it was listed.

        Raises:
          KeyError: It is not listed.
        """
        found = self._listed[name]
        with self._lock:
            kept = self._runs.get(name)
            if kept is not None and kept[0] == found.version:
                self._runs.move_to_end(name)
                return kept[1]
        run = run_from_scalars(name, self._read(found.tags))
        if run is None:  # the list can't know it: it asks for last points only
            run = run_without_steps(name, *found.followed)
        with self._lock:
            self._runs[name] = found.version, run
            self._runs.move_to_end(name)
            while len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)
        return run

    def _read_last(self, writers: Collection[str], tags: Collection[str] | None) -> _Points:
        from tensorboard.context import RequestContext
        from tensorboard.data import provider

        if not writers:
            return {}
        found = self._provider.read_last_scalars(
            RequestContext(),
            experiment_id="",
            plugin_name=SCALARS_PLUGIN,
            run_tag_filter=provider.RunTagFilter(runs=writers, tags=tags),
        )
        return {
            writer: {
                tag: LastPoint(int(datum.step), float(datum.wall_time))
                for tag, datum in of.items()
                if abs(datum.step) <= MOST_STEP and abs(datum.wall_time) < MOST_SECONDS
            }
            for writer, of in found.items()
        }

    def _read(self, tags: Mapping[str, Collection[str]]) -> list[ScalarSeries]:
        from tensorboard.context import RequestContext
        from tensorboard.data import provider

        keys = sorted(
            ((writer, tag) for writer, of in tags.items() for tag in of),
            key=lambda key: (*_rank(*key), key),
        )
        series = []
        for writer in tags:
            wanted = [tag for of, tag in keys[:_MOST_TAGS] if of == writer]
            if not wanted:
                continue
            found = self._provider.read_scalars(
                RequestContext(),
                experiment_id="",
                plugin_name=SCALARS_PLUGIN,
                downsample=_ALL,
                run_tag_filter=provider.RunTagFilter(runs=[writer], tags=wanted),
            )
            series += [_series(writer, tag, data) for tag, data in found.get(writer, {}).items()]
        return series


def _rank(writer: str, tag: str) -> tuple[bool, bool]:
    return meaning_of(tag, writer) == "evaluation", is_by_epoch(tag)


def _series(writer: str, tag: str, data: Collection[Any]) -> ScalarSeries:
    known = [
        datum
        for datum in data
        if abs(datum.step) <= MOST_STEP and abs(datum.wall_time) < MOST_SECONDS
    ]
    return ScalarSeries(
        writer,
        tag,
        np.array([datum.step for datum in known], np.int64),
        np.array([datum.wall_time for datum in known], np.float64),
        np.array([datum.value for datum in known], np.float64),
    )
