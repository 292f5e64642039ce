"""One line of the table of all benchmarks."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """What was measured, and what was promised of it."""

    what: str
    figure: str
    beside: str = ""
    """What it is compared with, measured in the same run."""
    promise: str = ""
    kept: bool | None = None
    """None where nothing was promised, or the machine was too busy to tell."""


def unless_busy(kept: bool) -> bool | None:
    """Whether a promise in seconds is kept; None where others want more cores than there are."""
    is_busy = os.getloadavg()[0] > (os.cpu_count() or 1)
    return None if is_busy and not kept else kept


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| what | measured | compared with, in the same run | goal | met |",
        "|---|---|---|---|---|",
    ]
    words = {True: "yes", False: "**no**", None: "machine too busy"}
    lines += [
        f"| {row.what} | {row.figure} | {row.beside} | {row.promise} | "
        f"{words[row.kept] if row.promise else ''} |"
        for row in rows
    ]
    return "\n".join(lines)
