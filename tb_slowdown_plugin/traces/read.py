"""One `.xplane.pb` file to what is known of the capture."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.traces import naming
from tb_slowdown_plugin.traces.account import Marks, account
from tb_slowdown_plugin.traces.memory import allocators
from tb_slowdown_plugin.traces.naming import Meaning
from tb_slowdown_plugin.traces.space import Line, Plane, Space
from tb_slowdown_plugin.traces.steps import Markers, Recorded, find_steps
from tb_slowdown_plugin.traces.types import Function, Trace

Ints = NDArray[np.int64]

_ABSOLUTE_PS: Final = 10**18 * 1000
"""Times from here on are counted from 1970: some writers do so, TensorFlow from the start."""
_MOST_PS: Final = 1 << 62
"""53 days from the start, and what the columns of events can hold."""
_NO_TIME: Final = "A line of the trace begins at a time that is none and is left out."
_MOST_MARKERS: Final = 20_000
_MOST_CALLS: Final = 50_000
_MOST_ALLOCATIONS: Final = 5_000
_MOST_FUNCTIONS: Final = 100


@dataclass(slots=True)
class _Gathered:
    """What the lines of a trace have given so far."""

    marks: Marks = field(default_factory=Marks)
    markers: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(line, step number, begin, end)"""
    calls: list[tuple[str, bool, int]] = field(default_factory=list)
    allocations: list[dict[str, Any]] = field(default_factory=list)
    events: int = 0
    ends: int = 0


def read_trace(path: Path, recorded: Recorded) -> Trace:
    """Reads a capture.

    Args:
      path: Of one host's file.
      recorded: When the run's steps ended, which finds steps without markers.

    Raises:
      UnreadableError: It is no trace, or too large.
      OSError: It can't be opened.
    """
    space = Space(path)
    told = _told(space)
    gathered = _Gathered()
    notes = space.notes
    for number, (plane, line) in enumerate(_lines(space)):
        placed = _relative(line, told.get("profile_start_time"))
        if abs(placed.offset_ps) <= _MOST_PS:
            _gather(gathered, plane, placed, number)
        elif _NO_TIME not in notes:
            notes.append(_NO_TIME)
    started, seconds = _range(told, gathered.ends)
    if math.isnan(started):
        started = path.stat().st_mtime - seconds
        notes.append(
            "The file does not tell when the capture began; its place among the steps is "
            "that of the time at which the file was written."
        )
    steps = find_steps(_markers(gathered), recorded, started, seconds)
    found = account(gathered.marks, steps)
    if found.left_out:
        notes.append(f"{found.left_out:,} events last over too many steps and are left out.")
    return Trace(
        started=started,
        seconds=seconds,
        devices=tuple(plane.name for plane in space.planes if naming.is_device(plane.name)),
        events=gathered.events,
        steps=steps,
        parts=found.parts,
        items=found.items,
        cell_item=found.cell_item,
        cell_step=found.cell_step,
        cell_seconds=found.cell_seconds,
        functions=_functions(gathered.calls),
        allocators=allocators(gathered.allocations),
        notes=tuple(notes),
    )


def _told(space: Space) -> dict[str, int]:
    return {
        name: value
        for plane in space.planes
        for name, value in plane.stats.items()
        if name in ("profile_start_time", "profile_stop_time") and isinstance(value, int)
    }


def _lines(space: Space) -> Iterator[tuple[Plane, Line]]:
    for plane in space.planes:
        device = naming.is_device(plane.name)
        for line in space.lines(plane):
            if not (device and naming.is_derived(line.name)):
                yield plane, line


def _relative(line: Line, started_ns: int | None) -> Line:
    if line.offset_ps < _ABSOLUTE_PS or not started_ns:
        return line
    return line._replace(offset_ps=line.offset_ps - started_ns * 1000)


def _range(told: dict[str, int], last_ns: int) -> tuple[float, float]:
    started, stopped = told.get("profile_start_time"), told.get("profile_stop_time")
    seconds = last_ns / 1e9
    if started and stopped and stopped > started:
        seconds = (stopped - started) / 1e9
    return (started / 1e9 if started else math.nan), seconds


def _gather(gathered: _Gathered, plane: Plane, line: Line, number: int) -> None:
    events = line.events
    gathered.events += len(events.metadata)
    begins = (line.offset_ps + events.offset_ps) // 1000
    ends = (line.offset_ps + events.offset_ps + events.duration_ps) // 1000
    good = (begins >= 0) & (ends >= begins)
    if good.any():
        gathered.ends = max(gathered.ends, int(ends[good].max()))
    if not len(begins):
        return
    ids, firsts, which = np.unique(events.metadata, return_index=True, return_inverse=True)
    meanings = _meanings(plane, line.name, ids.tolist())
    keep = np.array([found is not None and found.kind != "memory" for found in meanings], bool)
    kept = np.flatnonzero(keep[which] & good)
    gathered.marks.add(number, meanings, which[kept], begins[kept], ends[kept])
    order = np.argsort(which, kind="stable")
    edges = np.searchsorted(which[order], np.arange(len(ids) + 1))
    for index, first in enumerate(firsts.tolist()):
        found = meanings[index]
        if keep[index]:
            continue
        rows = order[edges[index] : edges[index + 1]]
        if found is not None:
            _gather_allocations(gathered, plane, line, rows)
            continue
        said = plane.stats_of(int(events.stats[first]), int(events.ends[first]))
        rows = rows[good[rows]]
        if "step_num" in said:
            _gather_markers(gathered, plane, line, rows, number)
        elif "tf_function_call" in said:
            _gather_calls(gathered, plane, line, rows)


def _gather_markers(gathered: _Gathered, plane: Plane, line: Line, rows: Ints, number: int) -> None:
    for row in rows[: _MOST_MARKERS - len(gathered.markers)].tolist():
        step = plane.stats_of(int(line.events.stats[row]), int(line.events.ends[row])).get(
            "step_num"
        )
        if isinstance(step, int) and -1 < step < 1 << 62:
            begin = line.offset_ps + int(line.events.offset_ps[row])
            end = begin + int(line.events.duration_ps[row])
            gathered.markers.append((number, step, begin // 1000, end // 1000))


def _gather_calls(gathered: _Gathered, plane: Plane, line: Line, rows: Ints) -> None:
    events = line.events
    for row in rows[: _MOST_CALLS - len(gathered.calls)].tolist():
        how = plane.stats_of(int(events.stats[row]), int(events.ends[row]))
        traced = str(how.get("tf_function_call", "")).startswith("traced")
        name = plane.names.get(int(events.metadata[row]), "")
        gathered.calls.append((name, traced, int(events.duration_ps[row]) // 1000))


def _meanings(plane: Plane, line: str, ids: list[int]) -> list[Meaning | None]:
    device = naming.is_device(plane.name)
    of_input = naming.is_input_thread(line)
    return [
        naming.meaning(plane.names.get(id_, ""), input_thread=of_input, device=device)
        for id_ in ids
    ]


def _gather_allocations(gathered: _Gathered, plane: Plane, line: Line, rows: Ints) -> None:
    """Evenly over the line, and the last one, which has seen the most."""
    thinned = rows[:: max(1, len(rows) // 500)]
    for row in [*thinned.tolist(), *rows[-1:].tolist()]:
        if len(gathered.allocations) < _MOST_ALLOCATIONS:
            events = line.events
            gathered.allocations.append(
                plane.stats_of(int(events.stats[row]), int(events.ends[row]))
            )


def _markers(gathered: _Gathered) -> Markers:
    """Of the thread that has the most, those that are not inside another one."""
    by_line: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for line, step, begin, end in gathered.markers:
        by_line[line].append((begin, -end, step))
    outer: list[tuple[int, int, int]] = []
    threads = sorted(by_line.values(), key=lambda found: -len(found))
    for begin, minus_end, step in sorted(threads[0]) if threads else ():
        if not outer or begin >= outer[-1][1]:
            outer.append((begin, -minus_end, step))
    columns = np.array(outer, np.int64).reshape(-1, 3)
    return Markers(columns[:, 2], columns[:, 0] / 1e9, columns[:, 1] / 1e9)


def _functions(calls: list[tuple[str, bool, int]]) -> tuple[Function, ...]:
    by_name: dict[str, list[tuple[bool, int]]] = defaultdict(list)
    for name, traced, spent in calls:
        by_name[name].append((traced, spent))
    found = [
        Function(
            name,
            len(of_name),
            sum(traced for traced, _ in of_name),
            sum(spent for _, spent in of_name) / 1e9,
        )
        for name, of_name in by_name.items()
    ]
    return tuple(sorted(found, key=lambda function: -function.seconds)[:_MOST_FUNCTIONS])


def read_range(path: Path) -> tuple[float, float]:
    """Unix seconds at which a capture began, and how long it was; quick whatever its size.

    Raises:
      UnreadableError: It is no trace, or too large.
      OSError: It can't be opened.
    """
    started, seconds = _range(_told(Space(path)), 0)
    return (path.stat().st_mtime if math.isnan(started) else started), seconds
