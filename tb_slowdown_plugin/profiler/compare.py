"""Two captures of one program: what a step of the slow one does that one of the fast did not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, TypeAlias

import numpy as np

from tb_slowdown_plugin.profiler.steps import places
from tb_slowdown_plugin.profiler.types import CaptureTrace
from tb_slowdown_plugin.records.capture import PART_NAMES, PARTS, Kind, Part

_DEEP_ENOUGH: Final = 0.5
"""A stage waits for those below it: the deepest with half of the largest difference made it."""
_MOST_ROWS: Final = 60
_MOST_PARTS: Final = 3
_TELLING: Final = 0.1
"""Share of what a step takes more from which a part of it is told."""

RowKind: TypeAlias = Kind | Literal["rest"]


@dataclass(frozen=True, slots=True)
class ComparedItem:
    """One operation, stage, copy or gap in both captures."""

    kind: RowKind
    part: Part
    name: str
    fast_seconds: float
    """Mean a step."""
    slow_seconds: float
    fast_calls: float
    """Mean a step."""
    slow_calls: float
    fast_place: int | None = None
    """Place (`steps.places`) of the step of the fast capture in which it takes longest."""
    slow_place: int | None = None

    @property
    def difference(self) -> float:
        """Seconds that a slow step spends more."""
        return self.slow_seconds - self.fast_seconds


@dataclass(frozen=True, slots=True)
class CaptureComparison:
    """What differs, most first."""

    fast_seconds: float
    """A step, mean."""
    slow_seconds: float
    parts: tuple[tuple[Part, float, float], ...]
    """(part, fast, slow); they sum up to the step."""
    rows: tuple[ComparedItem, ...]
    headline: str


def compare(fast: CaptureTrace, slow: CaptureTrace) -> CaptureComparison:
    """Compares the mean step of two captures.

    A row counts for no more than the part of the step that it lies in has grown by:
    what input threads do in the background costs nothing as long as no step waits for it.

    Args:
      fast: A capture with steps as they should be.
      slow: One with steps as they should not be.
    """
    parts = tuple(
        (part, float(np.mean(fast.parts[part])), float(np.mean(slow.parts[part]))) for part in PARTS
    )
    growth = {part: after - before for part, before, after in parts}
    rows = _rank(_rows(fast, slow), growth)
    fast_step = sum(before for _, before, _ in parts)
    slow_step = sum(after for _, _, after in parts)
    headline = _headline(parts, rows)
    return CaptureComparison(fast_step, slow_step, parts, tuple(rows[:_MOST_ROWS]), headline)


def milliseconds(seconds: float) -> str:
    """Seconds as they stand in a sentence, three digits of them.

    >>> milliseconds(0.0384), milliseconds(0.0000763), milliseconds(1.5)
    ('38.4 ms', '76.3 \u00b5s', '1.5 s')
    """
    if seconds >= 9.995:
        return f"{seconds:,.1f} s"
    if seconds >= 0.9995:
        return f"{seconds:.3g} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 0.0000995 else f"{seconds * 1e6:.3g} \u00b5s"


class _ItemTimes(NamedTuple):
    """One item in one of the captures."""

    seconds: float
    calls: float
    place: int | None


def _rows(fast: CaptureTrace, slow: CaptureTrace) -> list[ComparedItem]:
    before, after = _sides(fast), _sides(slow)
    nothing = _ItemTimes(0.0, 0.0, None)
    rows = []
    for key in dict.fromkeys([*after, *before]):
        one, other = before.get(key, nothing), after.get(key, nothing)
        rows.append(
            ComparedItem(
                *key, one.seconds, other.seconds, one.calls, other.calls, one.place, other.place
            )
        )
    return rows


def _sides(trace: CaptureTrace) -> dict[tuple[RowKind, Part, str], _ItemTimes]:
    steps = max(1, len(trace.steps))
    place = places(trace.steps)
    longest = np.zeros(len(trace.items), np.int64)
    order = np.argsort(trace.cell_seconds, kind="stable")
    longest[trace.cell_item[order]] = trace.cell_step[order]  # the last one written is the longest
    found: dict[tuple[RowKind, Part, str], _ItemTimes] = {
        (item.kind, item.part, item.name): _ItemTimes(
            float(seconds), item.calls / steps, _known(place[step])
        )
        for item, seconds, step in zip(
            trace.items, trace.item_seconds(), longest.tolist(), strict=True
        )
    }
    rest = trace.parts["rest"]
    found["rest", "rest", PART_NAMES["rest"]] = _ItemTimes(
        float(np.mean(rest)), 1.0, _known(place[int(np.argmax(rest))])
    )
    return found


def _known(place: np.int64) -> int | None:
    return int(place) if place >= 0 else None


def _rank(rows: list[ComparedItem], growth: dict[Part, float]) -> list[ComparedItem]:
    def weight(row: ComparedItem) -> float:
        limit = growth[row.part]
        if row.difference >= 0.0:
            return min(row.difference, max(limit, 0.0))
        return max(row.difference, min(limit, 0.0))

    def rank(row: ComparedItem) -> float:
        # Named work says more than the rest of about the same size.
        return abs(weight(row)) * (_DEEP_ENOUGH if row.kind == "rest" else 1.0)

    rows = sorted(rows, key=lambda row: (-rank(row), -abs(row.difference)))
    stages = [row for row in rows if row.kind == "stage"]
    most = max((weight(row) for row in stages), default=0.0)
    deep = [row for row in stages if weight(row) >= _DEEP_ENOUGH * most > 0.0]
    if not deep or growth["input"] <= 0.0:
        return rows
    lead = max(deep, key=lambda row: (row.name.count("::"), row.difference))
    place = min(number for number, row in enumerate(rows) if row.part == "input")
    rows.remove(lead)
    rows.insert(place, lead)
    return rows


def _headline(parts: Sequence[tuple[Part, float, float]], rows: list[ComparedItem]) -> str:
    """By how much, and in which parts of the step: those add up, which rows do not.

    What runs in other threads, and a stage with the operations that it runs, take more in sum
    than the step is longer.
    """
    fast_step = sum(before for _, before, _ in parts)
    slow_step = sum(after for _, _, after in parts)
    more = slow_step - fast_step
    if more <= 0.0:
        return (
            f"The slow step takes {milliseconds(slow_step)}, no more than the fast one "
            f"({milliseconds(fast_step)})."
        )
    moved = sorted(((after - before, part) for part, before, after in parts), key=_size)
    told = [_moved(*each, rows) for each in moved[:_MOST_PARTS] if -_size(each) >= _TELLING * more]
    return (
        f"The slow step takes {milliseconds(more)} longer "
        f"({milliseconds(fast_step)} to {milliseconds(slow_step)}): {', '.join(told)}."
    )


def _size(moved: tuple[float, Part]) -> float:
    return -abs(moved[0])


def _moved(seconds: float, part: Part, rows: Iterable[ComparedItem]) -> str:
    """What a part of the step takes more or less, and in what for the most."""
    way = "more" if seconds > 0.0 else "less"
    lead = next((row for row in rows if row.part == part and row.difference * seconds > 0.0), None)
    most = "" if lead is None or lead.kind == "rest" else f", most in {_name(lead)}"
    return f"{milliseconds(abs(seconds))} {way} in {PART_NAMES[part]}{most}"


def _name(row: ComparedItem) -> str:
    if row.kind == "rest":
        return row.name
    if row.kind == "stage":
        return f"`Iterator::{row.name.rpartition('::')[2]}`"
    inside = " of the input pipeline" if row.kind == "operation" and row.part == "input" else ""
    return f"`{row.name}`{inside}"
