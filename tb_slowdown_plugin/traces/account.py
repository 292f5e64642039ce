"""Where the time of each step of a capture went: by part, and by operation, stage and copy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tb_slowdown_plugin.records.captured import PARTS, Part
from tb_slowdown_plugin.traces.intervals import Windows, cut, lengths, merge
from tb_slowdown_plugin.traces.naming import Meaning
from tb_slowdown_plugin.traces.types import Float, Int, Item, Steps

Ints = NDArray[np.int64]

_MOST_ITEMS: Final = 400
"""Those with the most seconds; a model has thousands of operations of microseconds."""


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

    def add(
        self,
        line: int,
        meanings: Sequence[Meaning | None],
        which: Ints,
        begins: Ints,
        ends: Ints,
    ) -> None:
        """Adds events of one line: `meanings[which]` from `begins` to `ends`."""
        items = [
            -1 if found is None else self.meanings.setdefault(found, len(self.meanings))
            for found in meanings
        ]
        if len(which):
            self.item.append(np.array(items, np.int64)[which])
            self.line.append(np.full(len(which), line))
            self.begins.append(begins)
            self.ends.append(ends)


class Account(NamedTuple):
    """As the fields of `Trace` of the same names."""

    parts: dict[Part, Float]
    items: tuple[Item, ...]
    cell_item: Int
    cell_step: Int
    cell_seconds: Float
    left_out: int
    """Events that last over too many steps to be told of each."""


def account(marks: Marks, steps: Steps) -> Account:
    """Says where the time of each step went."""
    windows = Windows((steps.begins * 1e9).astype(np.int64), (steps.ends * 1e9).astype(np.int64))
    none = [np.empty(0, np.int64)]
    begins, ends = (np.concatenate(found or none) for found in (marks.begins, marks.ends))
    item, line = (np.concatenate(found or none) for found in (marks.item, marks.line))
    pieces = cut(begins, ends, windows)
    item, line = item[pieces.source], line[pieces.source]
    meanings = list(marks.meanings)
    parts = _parts(meanings, item, pieces.window, pieces.begins, pieces.ends, windows)
    cells = _cells(meanings, item, line, pieces.window, pieces.begins, pieces.ends, len(steps))
    busy = np.bincount(item, pieces.ends - pieces.begins, len(meanings)) / 1e9
    whole = np.append(True, pieces.source[1:] != pieces.source[:-1])[: len(item)]
    calls = np.bincount(item[whole], minlength=len(meanings))
    return _leading(meanings, calls, busy, parts, cells, pieces.left_out)


def _parts(
    meanings: list[Meaning],
    item: Ints,
    window: Ints,
    begins: Ints,
    ends: Ints,
    windows: Windows,
) -> dict[Part, Float]:
    """A moment goes to the first part that is under way: what is left over is the rest."""
    ranks = np.array([_rank(meaning) for meaning in meanings], np.int64)
    rank = ranks[item] if len(meanings) else item
    count = len(windows.begins)
    so_far = (window[:0], begins[:0], ends[:0])
    covered = np.zeros(count)
    parts: dict[Part, Float] = {}
    for number, part in enumerate(PARTS[:-1]):
        of_part = rank == number
        added = (window[of_part], begins[of_part], ends[of_part])
        so_far = merge(*(np.concatenate(pair) for pair in zip(so_far, added, strict=True)))
        together = np.bincount(so_far[0], so_far[2] - so_far[1], count) / 1e9
        parts[part] = np.maximum(together - covered, 0.0)
        covered = together
    parts["rest"] = np.maximum((windows.ends - windows.begins) / 1e9 - covered, 0.0)
    return parts


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
    meanings: list[Meaning],
    calls: Ints,
    busy: Float,
    parts: dict[Part, Float],
    cells: _Cells,
    left_out: int,
) -> Account:
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
    return Account(
        parts, items, place[cells.item[kept]], cells.step[kept], cells.seconds[kept], left_out
    )
