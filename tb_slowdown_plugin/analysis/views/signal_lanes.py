"""The lanes of sampled signals in a timeline: thinned to their extremes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tb_slowdown_plugin.analysis.views.timeline_columns import numbers
from tb_slowdown_plugin.catalog import collectors, names
from tb_slowdown_plugin.records.types import Float, Int, SignalTable

_LANE_VALUES: Final = 800
"""Values of each signal of a whole run, however few its buckets are."""


def most_values(buckets: int, first: int, last: int, rows: int) -> int:
    """How many values a lane has at most, in a view of a run of so many rows.

    Growth is told of the values of the whole run: not by how wide a window they are drawn in.
    """
    return max(buckets, _LANE_VALUES) if last - first + 1 >= rows else buckets


def samples_in_view(table: SignalTable, first: int, last: int) -> tuple[int, int]:
    """First sample of a view and the one after its last.

    One beyond each edge is in it, so that a line reaches the edges.
    """
    start = max(0, int(np.searchsorted(table.row, first, side="left")) - 1)
    stop = int(np.searchsorted(table.row, last, side="right")) + 1
    return start, min(stop, len(table))


def signal_lanes(table: SignalTable, first: int, last: int, most: int) -> list[dict[str, Any]]:
    """The lanes of rows `first` to `last`, each of at most `most` values."""
    if not len(table):
        return []
    start, stop = samples_in_view(table, first, last)
    rows = table.row[start:stop]
    lanes = []
    for name, values in table.values.items():
        part = values[start:stop]
        if np.isnan(part).all():
            continue
        kept = _thin(part, most)
        lanes.append(lane_of(name, rows[kept].tolist(), numbers(part[kept])))
    return lanes


def lane_of(name: str, row: Any, value: Any) -> dict[str, Any]:
    """A lane as it stands in the answer."""
    known = collectors.signal(name)
    return {
        "signal": name,
        "title": _title(name, known),
        "unit": known.unit if known else "count",
        "cumulative": bool(known and known.cumulative),
        "row": row,
        "value": value,
    }


def _title(name: str, known: collectors.Signal | None) -> str:
    if known is None:
        return name
    device = names.detail(name)
    return f"{known.title}, {device}" if device else known.title


def _thin(values: Float, most: int) -> Int:
    """Indices of at most `most` values."""
    if len(values) <= most:
        return np.arange(len(values))
    return extremes(values, -(-len(values) // max(1, most // 2)))


def extremes(values: Float, width: int) -> Int:
    """Indices of the lowest and the highest of each `width` values, in order."""
    starts = np.arange(0, len(values), width)
    padded = np.full(len(starts) * width, np.nan)
    padded[: len(values)] = values
    table = padded.reshape(-1, width)
    gaps = np.isnan(table)  # a group of gaps alone keeps its first one
    lowest = np.where(gaps, np.inf, table).argmin(axis=1)
    highest = np.where(gaps, -np.inf, table).argmax(axis=1)
    return np.unique(np.concatenate([starts + lowest, starts + highest]))
