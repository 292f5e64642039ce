"""One line of the table of all benchmarks."""

from __future__ import annotations

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
    """None where nothing was promised."""


def table(rows: Sequence[Row]) -> str:
    """The rows as Markdown."""
    lines = [
        "| what | measured | beside it, in the same run | promised | kept |",
        "|---|---|---|---|---|",
    ]
    words = {True: "yes", False: "**no**", None: ""}
    lines += [
        f"| {row.what} | {row.figure} | {row.beside} | {row.promise} | {words[row.kept]} |"
        for row in rows
    ]
    return "\n".join(lines)
