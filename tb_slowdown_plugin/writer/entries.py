"""What the training thread appends, in the form in which it costs least."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Opening(NamedTuple):
    """A period begins here and not where the step before ended."""

    at_ns: int
    process_cpu_ns: int | None
    """None: CPU time counts on from the step before."""
    thread_cpu_ns: int | None


StepRow: TypeAlias = tuple[int, int, int, int, int, int, float | None, str, dict[str, int] | None]
"""(row, number, begun_ns, ended_ns, process_cpu_ns, thread_cpu_ns, items, kind, account -> ns)"""
Entry: TypeAlias = StepRow | Opening


class Sample(NamedTuple):
    """The signals that were read at one moment."""

    time: float
    """Unix seconds."""
    row: int
    """Steps finished then."""
    values: dict[str, float]
