"""The ledger as one bar of characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tb_slowdown_plugin.report.ansi import Ink

HEALTHY: Final = "─"
UNEXPLAINED: Final = "░"
LETTERS: Final = "█▓▒▚▞▙▟"
"""Fills of the causes by rank: told apart without colour too."""


def fills(causes: Sequence[str]) -> dict[str, str]:
    """Cause id -> the character that fills its piece of the bar.

    >>> fills(["healthy", "retracing", "unexplained"])
    {'healthy': '─', 'retracing': '█', 'unexplained': '░'}
    """
    ranked = [cause for cause in causes if cause not in ("healthy", "unexplained")]
    found = {cause: LETTERS[rank % len(LETTERS)] for rank, cause in enumerate(ranked)}
    return {
        cause: {"healthy": HEALTHY, "unexplained": UNEXPLAINED}.get(cause) or found[cause]
        for cause in causes
    }


def draw_bar(parts: Sequence[tuple[str, float]], width: int, ink: Ink) -> str:
    """The bar: each part as wide as its share of the sum, at least one column.

    >>> draw_bar([("healthy", 7.0), ("retracing", 2.0), ("unexplained", 1.0)], 10, Ink(False))
    '───────██░'
    """
    total = sum(max(seconds, 0.0) for _, seconds in parts)
    if total <= 0:
        return ""
    columns = [max(1, int(width * max(seconds, 0.0) / total)) for _, seconds in parts]
    widest = columns.index(max(columns))
    columns[widest] = max(1, columns[widest] + width - sum(columns))
    fill = fills([cause for cause, _ in parts])
    return "".join(
        ink.fill(cause, fill[cause] * columns[index]) for index, (cause, _) in enumerate(parts)
    )
