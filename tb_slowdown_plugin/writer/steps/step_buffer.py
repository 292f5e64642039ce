"""What the training thread appends, in the form in which it costs least."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias


class Opening(NamedTuple):
    """A period begins here and not where the step before ended."""

    at_ns: int
    process_cpu_ns: int | None
    """None: CPU time counts on from the step before."""
    thread_cpu_ns: int | None


StepRow: TypeAlias = tuple[
    int, int, int, int, int | None, int | None, float | None, str, dict[str, int] | int | None
]
"""(row, number, begun_ns, ended_ns, process_cpu_ns, thread_cpu_ns, items, kind, account -> ns);
the two clocks of CPU time are not read at each step, and where nothing but waiting for input
was booked, its nanoseconds stand alone."""
Entry: TypeAlias = StepRow | Opening


def is_cpu_known(entry: Entry) -> bool:
    """Whether the CPU time up to here is known; else the next reading is to tell."""
    return isinstance(entry, Opening) or entry[4] is not None


class Sample(NamedTuple):
    """The signals that were read at one moment."""

    time: float
    """Unix seconds."""
    row: int
    """Steps finished then."""
    values: dict[str, float]
