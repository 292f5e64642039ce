"""Runs without our records, drawn from the scalars that TensorBoard has read.

For the list only the last point of each scalar is asked for, and only of runs without
records. All points of a run are read when the run itself is asked for. TensorBoard keeps about
1,000 points a tag: the time between two of those it kept is still right.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.reader.extent import Extent
from tb_slowdown_plugin.reader.scalars.scalar_points import MOST_SECONDS, MOST_STEP
from tb_slowdown_plugin.reader.scalars.scalar_run import FEWEST_POINTS, run_from_scalars
from tb_slowdown_plugin.reader.scalars.scalar_series import (
    SCALARS_PLUGIN,
    ScalarSeries,
    choose_listed,
    group_writers,
    is_by_epoch,
    meaning_of,
)
from tb_slowdown_plugin.records.metadata import run_name
from tb_slowdown_plugin.records.types import Run

_ALL: Final = 1 << 30
"""`downsample` must be given; TensorBoard keeps fewer points of a tag."""
_MOST_TAGS: Final = 64
"""Of a run that are read: training first, the longest first."""
_MOST_RUNS: Final = 64
"""Runs kept after they were read; one takes up to 1 MB."""


@dataclass(frozen=True, slots=True)
class LastPoint:
    """The last point of a scalar."""

    step: int
    time: float


@dataclass(frozen=True, slots=True)
class ScalarRun:
    """What the list knows of a run without records."""

    last: Mapping[str, Mapping[str, LastPoint]]
    """Writer -> tag -> its last point."""

    @property
    def version(self) -> Hashable:
        """Changes when there are more points."""
        points = [point for of in self.last.values() for point in of.values()]
        return len(points), sum(point.step for point in points), self.reported

    @property
    def reported(self) -> float:
        """Unix seconds of the last point of training."""
        writer, tag = self._listed()
        return self.last[writer][tag].time

    def extent(self) -> Extent:
        """How far it has come, by the step of its last point."""
        writer, tag = self._listed()
        step = self.last[writer][tag].step
        return Extent(1, step, None, step, math.nan)

    def _listed(self) -> tuple[str, str]:
        return choose_listed(
            {w: {tag: point.time for tag, point in of.items()} for w, of in self.last.items()}
        )


class ScalarCatalogue:
    """Runs from scalars, for many threads.

    Args:
      provider: `TBContext.data_provider`.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._lock = threading.Lock()
        self._listed: Mapping[str, ScalarRun] = {}
        self._runs: OrderedDict[str, tuple[Hashable, Run]] = OrderedDict()

    def listing(
        self, tensorboard_runs: Iterable[str], recorded: Collection[str]
    ) -> Mapping[str, ScalarRun]:
        """The runs that scalars can be drawn from, by the name that the user knows.

        Args:
          tensorboard_runs: All that TensorBoard knows.
          recorded: Runs with records: they have scalars, too, which nobody needs.
        """
        groups = group_writers(tensorboard_runs)
        taken = {base for writer, base in groups.items() if run_name(writer)[0] in recorded}
        taken.update(recorded)
        wanted = {writer: base for writer, base in groups.items() if base not in taken}
        by_base: dict[str, dict[str, Mapping[str, LastPoint]]] = {}
        for writer, tags in (self._read_last(list(wanted)) if wanted else {}).items():
            if tags and writer in wanted:
                by_base.setdefault(wanted[writer], {})[writer] = tags
        self._listed = {
            base: ScalarRun(last)
            for base, last in sorted(by_base.items())
            if max(p.step for of in last.values() for p in of.values()) >= FEWEST_POINTS - 1
        }
        return self._listed

    def extents(self, names: Iterable[str]) -> dict[str, Extent]:
        """How far some of the listed runs have come."""
        listed = self._listed
        return {name: listed[name].extent() for name in names if name in listed}

    def __contains__(self, name: str) -> bool:
        return name in self._listed

    def run(self, name: str) -> Run:
        """A listed run, as far as it had come when it was listed.

        Raises:
          KeyError: It is not listed, or has too few points after all.
        """
        found = self._listed[name]
        with self._lock:
            kept = self._runs.get(name)
            if kept is not None and kept[0] == found.version:
                self._runs.move_to_end(name)
                return kept[1]
        run = run_from_scalars(name, self._read(found.last))
        if run is None:
            raise KeyError(name)
        with self._lock:
            self._runs[name] = found.version, run
            self._runs.move_to_end(name)
            while len(self._runs) > _MOST_RUNS:
                self._runs.popitem(last=False)
        return run

    def _read_last(self, writers: Collection[str]) -> dict[str, dict[str, LastPoint]]:
        from tensorboard.context import RequestContext
        from tensorboard.data import provider

        found = self._provider.read_last_scalars(
            RequestContext(),
            experiment_id="",
            plugin_name=SCALARS_PLUGIN,
            run_tag_filter=provider.RunTagFilter(runs=writers, tags=None),
        )
        return {
            writer: {
                tag: LastPoint(int(datum.step), float(datum.wall_time))
                for tag, datum in tags.items()
                if abs(datum.step) <= MOST_STEP and abs(datum.wall_time) < MOST_SECONDS
            }
            for writer, tags in found.items()
        }

    def _read(self, last: Mapping[str, Mapping[str, LastPoint]]) -> list[ScalarSeries]:
        from tensorboard.context import RequestContext
        from tensorboard.data import provider

        keys = [(writer, tag) for writer, of in last.items() for tag in of]
        keys.sort(key=lambda key: (*_rank(*key), -last[key[0]][key[1]].step, key))
        series = []
        for writer in last:
            tags = [tag for of, tag in keys[:_MOST_TAGS] if of == writer]
            if not tags:
                continue
            found = self._provider.read_scalars(
                RequestContext(),
                experiment_id="",
                plugin_name=SCALARS_PLUGIN,
                downsample=_ALL,
                run_tag_filter=provider.RunTagFilter(runs=[writer], tags=tags),
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
