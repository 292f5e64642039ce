"""One `.xplane.pb` file to what is known of the capture.

Also what allocators say of themselves in it.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.profiler import event_names
from tb_slowdown_plugin.profiler.steps import Markers, Recorded, find_steps
from tb_slowdown_plugin.profiler.time_sections import account
from tb_slowdown_plugin.profiler.types import CaptureTrace, Copied, Function
from tb_slowdown_plugin.profiler.xplane import device_lines
from tb_slowdown_plugin.profiler.xplane.gathered import Gathered
from tb_slowdown_plugin.profiler.xplane.space import Line, Plane, Space, UnreadableError
from tb_slowdown_plugin.records.capture import CapturedAllocator

_ABSOLUTE_PS: Final = 10**18 * 1000
"""Times from here on are counted from 1970: some writers do so, TensorFlow from the start."""

_MOST_PS: Final = 1 << 62
"""53 days from the start, and what the columns of events can hold."""

_NO_TIME: Final = "A line of the trace begins at a time that is none and is left out."

_MOST_FUNCTIONS: Final = 100


def read_trace(path: Path, recorded: Recorded) -> CaptureTrace:
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
    gathered = _gather(space, told.get("profile_start_time"))
    notes = space.notes
    if space.is_damaged and not gathered.events:
        raise UnreadableError(space.damage())
    started, seconds = _range(told, gathered.ends)
    if math.isnan(started):
        started = path.stat().st_mtime - seconds
        notes.append(
            "The file does not tell when the capture began; its place among the steps is "
            "that of the time at which the file was written."
        )
    steps = find_steps(
        _markers(gathered),
        recorded,
        started,
        seconds,
        step_line=gathered.step_line,
        groups=gathered.groups,
        worked=gathered.marks.worked(),
    )
    devices = tuple(plane.name for plane in _devices(space))
    found = account(gathered.marks, steps, len(devices))
    if found.left_out:
        notes.append(f"{found.left_out:,} events last over too many steps and are left out.")
    if devices and not gathered.marks.devices:
        notes.append("The devices say nothing of what they did: the profiler could not ask them.")
    return CaptureTrace(
        started=started,
        seconds=seconds,
        devices=devices,
        events=gathered.events,
        steps=steps,
        parts=found.parts,
        items=found.items,
        cell_item=found.cell_item,
        cell_step=found.cell_step,
        cell_seconds=found.cell_seconds,
        totals=found.totals,
        copied={
            way: Copied(calls, spent, gathered.copied_bytes.get(way))
            for way, (calls, spent) in found.copied.items()
        },
        device_seconds=dict(zip(devices, found.device_seconds.tolist(), strict=True)),
        shares=found.shares,
        functions=_functions(gathered.calls),
        allocators=allocators(gathered.allocations),
        notes=tuple(notes),
    )


def _gather(space: Space, started_ns: int | None) -> Gathered:
    """The host first, then the devices' steps, then their work: each needs what is before it."""
    gathered = Gathered()
    notes = space.notes
    devices = _devices(space)
    of_lines = [device_lines.roles(space.line_names(plane)) for plane in devices]
    streams = any("work" in roles for roles in of_lines)
    count = 0

    def placed(plane: Plane, which: Iterable[int] | None = None) -> Iterator[tuple[int, Line]]:
        for at, line in space.lines(plane, which):
            moved = _relative(line, started_ns)
            if abs(moved.offset_ps) <= _MOST_PS:
                yield at, moved
            elif _NO_TIME not in notes:
                notes.append(_NO_TIME)

    for plane in space.planes:
        if not event_names.is_device(plane.name):
            for _, line in placed(plane):
                gathered.add_host(plane, line, count, streams=streams)
                count += 1
    for wanted in (("steps",), ("work", "async")):
        for device, (plane, roles) in enumerate(zip(devices, of_lines, strict=True)):
            which = [at for at, role in enumerate(roles) if role in wanted]
            for at, line in placed(plane, which):
                gathered.add_device(plane, line, count, device, roles[at])
                count += 1
    return gathered


def _devices(space: Space) -> list[Plane]:
    return [plane for plane in space.planes if event_names.is_device(plane.name)]


def _told(space: Space) -> dict[str, int]:
    return {
        name: value
        for plane in space.planes
        for name, value in plane.stats.items()
        if name in ("profile_start_time", "profile_stop_time") and isinstance(value, int)
    }


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


def _markers(gathered: Gathered) -> Markers:
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


def allocators(allocations: Iterable[Mapping[str, Any]]) -> tuple[CapturedAllocator, ...]:
    """Sums up the stats of allocation events, per allocator; what none tells is NaN."""
    by_name: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for stats in allocations:
        by_name[str(stats.get("allocator_name", ""))].append(stats)
    return tuple(_sum_up(name, of_name) for name, of_name in sorted(by_name.items()) if name)


def _sum_up(name: str, found: list[Mapping[str, Any]]) -> CapturedAllocator:
    def values(stat: str) -> list[float]:
        told = (stats.get(stat) for stats in found)
        return [
            float(value)
            for value in told
            if isinstance(value, int | float) and math.isfinite(value)
        ]

    def most(stat: str) -> float:
        return max(values(stat), default=math.nan)

    return CapturedAllocator(
        name=name,
        samples=len(found),
        in_use_bytes=most("bytes_allocated"),
        peak_bytes=most("peak_bytes_in_use"),
        reserved_bytes=most("bytes_reserved"),
        available_bytes=min(values("bytes_available"), default=math.nan),
        fragmentation=most("fragmentation"),
        largest_bytes=most("allocation_bytes"),
    )
