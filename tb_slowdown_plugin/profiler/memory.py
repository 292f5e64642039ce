"""What allocators say of themselves in a trace."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from tb_slowdown_plugin.records.capture import Allocator


def allocators(allocations: Iterable[Mapping[str, Any]]) -> tuple[Allocator, ...]:
    """Sums up the stats of allocation events, per allocator; what none tells is NaN."""
    by_name: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for stats in allocations:
        by_name[str(stats.get("allocator_name", ""))].append(stats)
    return tuple(_sum_up(name, of_name) for name, of_name in sorted(by_name.items()) if name)


def _sum_up(name: str, found: list[Mapping[str, Any]]) -> Allocator:
    def values(stat: str) -> list[float]:
        told = (stats.get(stat) for stats in found)
        return [
            float(value)
            for value in told
            if isinstance(value, int | float) and math.isfinite(value)
        ]

    def most(stat: str) -> float:
        return max(values(stat), default=math.nan)

    return Allocator(
        name=name,
        samples=len(found),
        in_use_bytes=most("bytes_allocated"),
        peak_bytes=most("peak_bytes_in_use"),
        reserved_bytes=most("bytes_reserved"),
        available_bytes=min(values("bytes_available"), default=math.nan),
        fragmentation=most("fragmentation"),
        largest_bytes=most("allocation_bytes"),
    )
