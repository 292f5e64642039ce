"""Where the time of each step of a capture went: by part, and by operation, stage and copy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.profiler.event_names import Direction, Meaning
from tb_slowdown_plugin.profiler.intervals import Pieces, Windows, cut, lengths
from tb_slowdown_plugin.profiler.shares import Stretches, shares_of
from tb_slowdown_plugin.profiler.types import Float, Int, Item, Shares, Total, TraceSteps
from tb_slowdown_plugin.records.capture import PARTS, Part

Ints = NDArray[np.int64]

_MOST_ITEMS: Final = 400
"""Those with the most seconds; a model has thousands of operations of microseconds."""
_MOST_TOTALS: Final = 100
"""Of each part."""


@dataclass(slots=True)
class Marks:
    """Events that mean something, line by line."""

    meanings: dict[Meaning, int] = field(default_factory=dict)
    """-> its item."""
    item: list[Ints] = field(default_factory=list)
    line: list[Ints] = field(default_factory=list)
    begins: list[Ints] = field(default_factory=list)
    """Nanoseconds from the beginning of the trace."""
    ends: list[Ints] = field(default_factory=list)
    calls: list[NDArray[np.bool_]] = field(default_factory=list)
    """Whether it is a call, not another piece of one."""
    devices: dict[int, int] = field(default_factory=dict)
    """Line -> device, of lines of devices."""

    def add(
        self,
        line: int,
        meanings: Sequence[Meaning | None],
        which: Ints,
        begins: Ints,
        ends: Ints,
        calls: NDArray[np.bool_] | None = None,
    ) -> None:
        """Adds events of one line: `meanings[which]` from `begins` to `ends`.

        Where an event is added in pieces, `calls` tells the first piece of each.
        """
        items = [
            -1 if found is None else self.meanings.setdefault(found, len(self.meanings))
            for found in meanings
        ]
        if len(which):
            self.item.append(np.array(items, np.int64)[which])
            self.line.append(np.full(len(which), line))
            self.begins.append(begins)
            self.ends.append(ends)
            self.calls.append(np.ones(len(which), bool) if calls is None else calls)

    def worked(self) -> tuple[float, float] | None:
        """From when to when devices did something, in seconds; None: there is no such time."""
        of_devices = [
            (int(begins.min()), int(ends.max()))
            for line, begins, ends in zip(self.line, self.begins, self.ends, strict=True)
            if int(line[0]) in self.devices
        ]
        begin = min((first for first, _ in of_devices), default=0)
        end = max((last for _, last in of_devices), default=0)
        return (begin / 1e9, end / 1e9) if end > begin else None


class StepShares(NamedTuple):
    """As the fields of `CaptureTrace` of the same names."""

    parts: dict[Part, Float]
    items: tuple[Item, ...]
    cell_item: Int
    cell_step: Int
    cell_seconds: Float
    left_out: int
    """Events that last over too many steps to be told of each."""
    totals: tuple[Total, ...]
    copied: dict[Direction, tuple[int, float]]
    """Calls and seconds."""
    shares: Shares
    device_seconds: Float
    """(D,)"""


def account(marks: Marks, steps: TraceSteps, devices: int = 0) -> StepShares:
    """Says where the time of each step went.

    Args:
      marks: What was found.
      steps: The steps.
      devices: How many there are.
    """
    windows = Windows((steps.begins * 1e9).astype(np.int64), (steps.ends * 1e9).astype(np.int64))
    none = [np.empty(0, np.int64)]
    begins, ends = (np.concatenate(found or none) for found in (marks.begins, marks.ends))
    item, line = (np.concatenate(found or none) for found in (marks.item, marks.line))
    is_call = np.concatenate(marks.calls or [np.empty(0, bool)])
    meanings = list(marks.meanings)
    totals, copied = _totals(meanings, item, begins, ends, is_call)
    device = _device_of(marks, line)
    device_seconds = _device_seconds(meanings, item, device, begins, ends, devices)
    pieces = cut(begins, ends, windows)
    whole = np.append(True, pieces.source[1:] != pieces.source[:-1])[: len(pieces.source)]
    if not is_call.all():
        whole &= is_call[pieces.source]
    item, line = item[pieces.source], line[pieces.source]
    device = _device_of(marks, line)
    parts, shares = _parts(meanings, item, device, pieces, windows, devices)
    cells = _cells(meanings, item, line, pieces.window, pieces.begins, pieces.ends, len(steps))
    busy = np.bincount(item, pieces.ends - pieces.begins, len(meanings)) / 1e9
    calls = np.bincount(item[whole], minlength=len(meanings))
    items, cells = _leading(meanings, calls, busy, cells)
    return StepShares(
        parts,
        items,
        cells.item,
        cells.step,
        cells.seconds,
        pieces.left_out,
        totals,
        copied,
        shares,
        device_seconds,
    )


def _totals(
    meanings: list[Meaning], item: Ints, begins: Ints, ends: Ints, is_call: NDArray[np.bool_]
) -> tuple[tuple[Total, ...], dict[Direction, tuple[int, float]]]:
    seconds = np.bincount(item, ends - begins, len(meanings)) / 1e9
    calls = np.bincount(item if is_call.all() else item[is_call], minlength=len(meanings))
    places = Counter[str]()
    leading = []
    for n in np.argsort(-seconds, kind="stable").tolist():
        places[meanings[n].part] += 1
        if places[meanings[n].part] <= _MOST_TOTALS:
            leading.append(n)
    totals = tuple(
        Total(
            meanings[n].kind, meanings[n].part, meanings[n].title, int(calls[n]), float(seconds[n])
        )
        for n in leading
        if calls[n]
    )
    copied: dict[Direction, tuple[int, float]] = {}
    for number, meaning in enumerate(meanings):
        if meaning.direction is not None:
            before = copied.get(meaning.direction, (0, 0.0))
            copied[meaning.direction] = (
                before[0] + int(calls[number]),
                before[1] + float(seconds[number]),
            )
    return totals, copied


def _device_of(marks: Marks, line: Ints) -> Ints:
    """(E,) the device of each event, -1 of the host's."""
    if not marks.devices:
        return np.broadcast_to(np.int64(-1), len(line))
    table = np.full(int(line.max(initial=0)) + 1, -1)
    for number, device in marks.devices.items():
        if number < len(table):
            table[number] = device
    return table[line]


def _device_seconds(
    meanings: list[Meaning], item: Ints, device: Ints, begins: Ints, ends: Ints, devices: int
) -> Float:
    of_device = np.array([meaning.part == "device" for meaning in meanings], bool)
    rows = np.flatnonzero(of_device[item] & (device >= 0)) if len(meanings) else item
    return lengths(device[rows], begins[rows], ends[rows], devices) / 1e9


def _parts(
    meanings: list[Meaning],
    item: Ints,
    device: Ints,
    pieces: Pieces,
    windows: Windows,
    devices: int,
) -> tuple[dict[Part, Float], Shares]:
    """A moment goes to the first part that is under way: what is left over is the rest.

    Of several devices it is the part of the first that does anything; `Shares` tell each.
    """
    ranks = np.array([_rank(meaning) for meaning in meanings], np.int64)
    rank = ranks[item] if len(meanings) else item
    count = len(windows.begins)

    def of_devices(part: Part) -> Stretches:
        rows = np.flatnonzero((rank == PARTS.index(part)) & (device >= 0))
        group = pieces.window[rows] * max(1, devices) + device[rows]
        return Stretches(group, pieces.begins[rows], pieces.ends[rows]).merged()

    done: dict[Part, Stretches] = {
        part: of_devices(part) for part in ("device", "communication", "copies")
    }
    shares = shares_of(done["device"], done["communication"], done["copies"], windows, devices)
    so_far = Stretches(*(np.empty(0, np.int64) for _ in Stretches._fields))
    covered = np.zeros(count)
    parts: dict[Part, Float] = {}
    for number, part in enumerate(PARTS[:-1]):
        rows = np.flatnonzero((rank == number) & (device < 0))
        added = [Stretches(pieces.window[rows], pieces.begins[rows], pieces.ends[rows])]
        if part in done:
            added.append(done[part]._replace(group=done[part].group // max(1, devices)))
        so_far = so_far.merged(*added)
        together = so_far.lengths(count)
        parts[part] = np.maximum(together - covered, 0.0)
        covered = together
    parts["rest"] = np.maximum((windows.ends - windows.begins) / 1e9 - covered, 0.0)
    return parts, shares


def _rank(meaning: Meaning) -> int:
    """Only the wait for data is the step's: what the input threads do meanwhile is not."""
    is_background = meaning.part == "input" and meaning.kind != "input"
    return len(PARTS) if is_background else PARTS.index(meaning.part)


class _Cells(NamedTuple):
    item: Ints
    step: Ints
    seconds: Float


def _cells(
    meanings: list[Meaning],
    item: Ints,
    line: Ints,
    window: Ints,
    begins: Ints,
    ends: Ints,
    count: int,
) -> _Cells:
    stage = np.array([meaning.kind == "stage" for meaning in meanings], bool)
    is_stage = stage[item] if len(meanings) else np.empty(0, bool)
    plain = ~is_stage
    cells, which = np.unique(item[plain] * count + window[plain], return_inverse=True)
    seconds = lengths(which, begins[plain], ends[plain], len(cells)) / 1e9
    own_cells, own_seconds = _own(
        meanings,
        item[is_stage],
        line[is_stage],
        window[is_stage],
        begins[is_stage],
        ends[is_stage],
        count,
    )
    cells = np.concatenate([cells, own_cells])
    return _Cells(cells // count, cells % count, np.concatenate([seconds, own_seconds]))


def _own(
    meanings: list[Meaning],
    item: Ints,
    line: Ints,
    window: Ints,
    begins: Ints,
    ends: Ints,
    count: int,
) -> tuple[Ints, Float]:
    """Seconds of a stage, less those of the stages that it asks in the same thread."""
    if not len(item):
        return item, np.empty(0)
    lines = int(line.max()) + 1
    keys, which = np.unique((item * count + window) * lines + line, return_inverse=True)
    seconds = lengths(which, begins, ends, len(keys)) / 1e9
    index = {meaning.title: number for number, meaning in enumerate(meanings)}
    asked_by = np.array(
        [index.get(meaning.title.rpartition("::")[0], -1) for meaning in meanings], np.int64
    )
    cells, thread = keys // lines, keys % lines
    above = asked_by[cells // count]
    above_keys = (above * count + cells % count) * lines + thread
    place = np.minimum(np.searchsorted(keys, above_keys), len(keys) - 1)
    has = (above >= 0) & (keys[place] == above_keys)
    own = seconds.copy()
    np.subtract.at(own, place[has], seconds[has])
    found, which = np.unique(cells, return_inverse=True)
    return found, np.bincount(which, np.maximum(own, 0.0), len(found)).astype(np.float64)


def _leading(
    meanings: list[Meaning], calls: Ints, busy: Float, cells: _Cells
) -> tuple[tuple[Item, ...], _Cells]:
    total = np.bincount(cells.item, cells.seconds, len(meanings))
    leading = np.argsort(-total, kind="stable")[:_MOST_ITEMS]
    leading = leading[total[leading] > 0.0]
    place = np.full(len(meanings) + 1, -1)
    place[leading] = np.arange(len(leading))
    kept = place[cells.item] >= 0
    items = tuple(
        Item(
            meanings[number].kind,
            meanings[number].part,
            meanings[number].title,
            int(calls[number]),
            float(busy[number]),
        )
        for number in leading.tolist()
    )
    return items, _Cells(place[cells.item[kept]], cells.step[kept], cells.seconds[kept])
