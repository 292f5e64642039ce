"""What the lines of a trace give, one after the other: work, markers, copies, allocations."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.profiler import event_names
from tb_slowdown_plugin.profiler.event_names import Direction, Meaning
from tb_slowdown_plugin.profiler.intervals import own
from tb_slowdown_plugin.profiler.steps import DeviceSpan
from tb_slowdown_plugin.profiler.time_sections import Marks
from tb_slowdown_plugin.profiler.xplane.device_lines import Role
from tb_slowdown_plugin.profiler.xplane.space import Line, Plane

Ints = NDArray[np.int64]

_MOST_MARKERS: Final = 20_000
_MOST_CALLS: Final = 50_000
_MOST_ALLOCATIONS: Final = 5_000
_MOST_SPANS: Final = 50_000
"""Events whose group is looked up, which takes 10 us each; of more, so many evenly."""
_MOST_COPIES: Final = 50_000
"""Copies whose bytes or launch are looked up."""
_SIZE: Final = re.compile(r"\b(?:size|num_bytes):(\d+)")
"""In `memcpy_details`, as CUPTI's and ROCm's collectors write them."""


@dataclass(slots=True)
class Gathered:
    """What the lines of a trace have given so far; the host's come first."""

    marks: Marks = field(default_factory=Marks)
    markers: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(line, step number, begin, end)"""
    step_line: list[DeviceSpan] = field(default_factory=list)
    groups: list[DeviceSpan] = field(default_factory=list)
    """Kernels that say which step they belong to."""
    calls: list[tuple[str, bool, int]] = field(default_factory=list)
    allocations: list[dict[str, Any]] = field(default_factory=list)
    copied_bytes: dict[Direction, int | None] = field(default_factory=dict)
    """None: copies that do not say, or more of them than are looked at."""
    launched: dict[int, Direction] = field(default_factory=dict)
    """Correlation id -> which way the copy goes that a call of the host launched."""
    copies_left: int = _MOST_COPIES
    events: int = 0
    ends: int = 0

    def add_host(self, plane: Plane, line: Line, number: int, *, streams: bool) -> None:
        """Takes a thread of the host.

        Args:
          plane: That it lies on.
          line: The thread, from the beginning of the trace.
          number: Of the line.
          streams: Some device tells what it did, so that the host's calls only launch it.
        """
        begins, ends, good = self._times(line)
        if not len(begins):
            return
        events = line.events
        ids, firsts, which = np.unique(events.metadata, return_index=True, return_inverse=True)
        of_input = event_names.is_input_thread(line.name)
        meanings: list[Meaning | None] = []
        order = np.argsort(which, kind="stable")
        edges = np.searchsorted(which[order], np.arange(len(ids) + 1))
        for index, first in enumerate(firsts.tolist()):
            name = plane.names.get(int(ids[index]), "")
            found = event_names.meaning(name, input_thread=of_input, streams=streams)
            rows = order[edges[index] : edges[index + 1]]
            if found is None:
                said = plane.stats_of(int(events.stats[first]), int(events.ends[first]))
                if "correlation_id" in said:
                    found = event_names.launch(name)
                elif "step_num" in said:
                    self._add_markers(plane, line, rows[good[rows]], number)
                elif "tf_function_call" in said:
                    self._add_calls(plane, line, rows[good[rows]])
            if found is not None and found.kind == "memory":
                self._add_allocations(plane, line, rows)
                found = None
            elif found is not None and found.kind == "launch":
                self._add_launches(plane, line, rows, name)
            meanings.append(found)
        keep = np.array([found is not None for found in meanings], bool)
        kept = np.flatnonzero(keep[which] & good)
        self.marks.add(number, meanings, which[kept], begins[kept], ends[kept])

    def add_device(self, plane: Plane, line: Line, number: int, device: int, role: Role) -> None:
        """Takes a line of a device.

        Args:
          plane: That it lies on.
          line: From the beginning of the trace.
          number: Of the line.
          device: Index of the device.
          role: What the line is for.
        """
        begins, ends, good = self._times(line)
        rows = np.flatnonzero(good)
        if role == "steps":
            self._add_spans(self.step_line, plane, line, rows, device)
        if role not in ("work", "async") or not len(rows):
            return
        is_needed = role == "work" and not self.markers and not self.step_line
        if is_needed and "group_id" in plane.stat_names.values():
            self._add_spans(self.groups, plane, line, rows, device)
        ids, which = np.unique(line.events.metadata[rows], return_inverse=True)
        names = [plane.names.get(id_, "") for id_ in ids.tolist()]
        meanings = [event_names.meaning(name, input_thread=False, device=True) for name in names]
        if role == "async":
            meanings = [
                found if found is not None and found.part == "communication" else None
                for found in meanings
            ]
        for index, name in enumerate(names):
            if event_names.is_blit(name):
                self._tell_blits(plane, line, rows, which, meanings, index)
        self._add_bytes(plane, line, rows, which, meanings)
        keep = np.array([found is not None for found in meanings], bool)[which]
        which, begins, ends = which[keep], begins[rows][keep], ends[rows][keep]
        self.marks.devices[number] = device
        inner = None if line.name.startswith("Stream") else own(begins, ends)
        if inner is None:
            self.marks.add(number, meanings, which, begins, ends)
        else:
            first = inner.first
            which, begins, ends = which[inner.source], inner.begins, inner.ends
            self.marks.add(number, meanings, which, begins, ends, first)

    def _times(self, line: Line) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        events = line.events
        self.events += len(events.metadata)
        begins = (line.offset_ps + events.offset_ps) // 1000
        ends = (line.offset_ps + events.offset_ps + events.duration_ps) // 1000
        good = (begins >= 0) & (ends >= begins)
        if good.any():
            self.ends = max(self.ends, int(ends[good].max()))
        return begins, ends, good

    def _add_markers(self, plane: Plane, line: Line, rows: Ints, number: int) -> None:
        for row in rows[: _MOST_MARKERS - len(self.markers)].tolist():
            step = _stats(plane, line, row).get("step_num")
            if isinstance(step, int) and -1 < step < 1 << 62:
                begin = line.offset_ps + int(line.events.offset_ps[row])
                end = begin + int(line.events.duration_ps[row])
                self.markers.append((number, step, begin // 1000, end // 1000))

    def _add_spans(
        self, spans: list[DeviceSpan], plane: Plane, line: Line, rows: Ints, device: int
    ) -> None:
        for row in rows[:: 1 + len(rows) // _MOST_SPANS].tolist():
            if len(spans) >= 4 * _MOST_SPANS:
                return
            said = _stats(plane, line, row)
            name = plane.names.get(int(line.events.metadata[row]), "")
            number = int(name) if name.isdecimal() and len(name) < 18 else None
            group = said.get("group_id", number)
            if isinstance(group, int) and -1 < group < 1 << 62:
                begin = line.offset_ps + int(line.events.offset_ps[row])
                end = begin + int(line.events.duration_ps[row])
                named = number if spans is self.step_line else None
                called = group if named is None else named
                spans.append(DeviceSpan(device, group, called, begin // 1000, end // 1000))

    def _add_calls(self, plane: Plane, line: Line, rows: Ints) -> None:
        events = line.events
        for row in rows[: _MOST_CALLS - len(self.calls)].tolist():
            traced = str(_stats(plane, line, row).get("tf_function_call", "")).startswith("traced")
            name = plane.names.get(int(events.metadata[row]), "")
            self.calls.append((name, traced, int(events.duration_ps[row]) // 1000))

    def _add_allocations(self, plane: Plane, line: Line, rows: Ints) -> None:
        """Evenly over the line, and the last one, which has seen the most."""
        thinned = rows[:: max(1, len(rows) // 500)]
        for row in [*thinned.tolist(), *rows[-1:].tolist()]:
            if len(self.allocations) < _MOST_ALLOCATIONS:
                self.allocations.append(_stats(plane, line, row))

    def _add_launches(self, plane: Plane, line: Line, rows: Ints, name: str) -> None:
        direction = event_names.direction_of(name)
        if direction is None:
            return
        for row in rows[: _MOST_COPIES - len(self.launched)].tolist():
            launched = _stats(plane, line, row).get("correlation_id")
            if isinstance(launched, int):
                self.launched[launched] = direction

    def _tell_blits(
        self,
        plane: Plane,
        line: Line,
        rows: Ints,
        which: Ints,
        meanings: list[Meaning | None],
        index: int,
    ) -> None:
        """Gives each kernel that copies the direction of the call that launched it."""
        kernel = meanings[index]
        if kernel is None:
            return
        at: dict[Direction, int] = {}
        for place in np.flatnonzero(which == index)[: self._some_copies()].tolist():
            launched = _stats(plane, line, int(rows[place])).get("correlation_id")
            way = self.launched.get(launched, "within_device") if launched else "within_device"
            if way not in at:
                at[way] = len(meanings)
                meanings.append(event_names.copy_of(kernel.title, way))
            which[place] = at[way]

    def _add_bytes(
        self, plane: Plane, line: Line, rows: Ints, which: Ints, meanings: list[Meaning | None]
    ) -> None:
        ways = [None if found is None else found.direction for found in meanings]
        copies = np.flatnonzero(np.array([way is not None for way in ways], bool)[which])
        looked_at = self._some_copies()
        for place in copies.tolist():
            way = ways[int(which[place])]
            if way is None:
                continue
            looked_at -= 1
            size = _size(_stats(plane, line, int(rows[place]))) if looked_at >= 0 else None
            so_far = self.copied_bytes.get(way, 0)
            self.copied_bytes[way] = None if size is None or so_far is None else so_far + size
            if looked_at < 0:
                self.copied_bytes.update({way: None for way in ways if way is not None})
                break
        self.copies_left -= len(copies)

    def _some_copies(self) -> int:
        return max(0, self.copies_left)


def _stats(plane: Plane, line: Line, row: int) -> dict[str, Any]:
    return plane.stats_of(int(line.events.stats[row]), int(line.events.ends[row]))


def _size(said: dict[str, Any]) -> int | None:
    """Bytes of a copy; ROCm's collector writes 0 where it does not know."""
    found = _SIZE.search(str(said.get("memcpy_details", "")))
    size = int(found[1]) if found and len(found[1]) < 18 else 0
    return size or None
