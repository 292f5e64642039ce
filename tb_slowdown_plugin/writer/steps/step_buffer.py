"""What was recorded and is not written yet, in the form in which appending costs least."""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple, TypeAlias

from tb_slowdown_plugin.collectors.timing.clock import Clock
from tb_slowdown_plugin.records.limits import MAX_EVENTS, MAX_ROWS
from tb_slowdown_plugin.records.types import Event, What

StepRow: TypeAlias = tuple[
    int,
    int,
    int,
    int,
    int | None,
    int | None,
    float | None,
    str,
    dict[str, int] | int | None,
    int,
    int,
    int,
]
"""(row, number, begun_ns, ended_ns, process_cpu_ns, thread_cpu_ns, items, kind, account -> ns,
functions that ran, their calls, numbers in their arguments);
the two clocks of CPU time are not read at each step, and where nothing but waiting for input
was booked, its nanoseconds stand alone."""


class Opening(NamedTuple):
    """A period begins here and not where the step before ended."""

    at_ns: int
    process_cpu_ns: int | None
    """None: CPU time counts on from the step before."""
    thread_cpu_ns: int | None


Entry: TypeAlias = StepRow | Opening

MAX_PENDING_STEPS: Final = 1 << 17
"""Steps kept while nobody fetches them: two seconds of the fastest loops, some 40 MB. Beside steps
of 10 us the background writes 40,000 to 300,000 a second, as the interpreter lets it."""


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


class Pending:
    """Three queues: any thread appends, the background takes; the oldest go where it does not.

    Example:
      >>> pending = Pending(Clock())
      >>> pending.add_sample({"rss_bytes": 1e9})
      >>> len(pending.samples), len(pending.entries)
      (1, 0)
    """

    __slots__ = ("clock", "entries", "events", "rows", "samples")

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.entries: deque[Entry] = deque(maxlen=MAX_PENDING_STEPS)
        self.events: deque[Event] = deque(maxlen=MAX_EVENTS)
        self.samples: deque[Sample] = deque(maxlen=MAX_ROWS)
        self.rows = 0
        """Steps finished."""

    def emit(self, what: What) -> None:
        """Records that something happened now, in the step under way. Any thread."""
        self.emit_at(self.rows, what)

    def emit_at(self, row: int, what: What) -> None:
        """Records that something happened now, in the step of that row. Any thread."""
        self.events.append(Event(row, self.clock.unix_seconds(), what))

    def add_sample(self, values: dict[str, float]) -> None:
        """Records the values of some signals now. Any thread."""
        self.samples.append(Sample(self.clock.unix_seconds(), self.rows, values))

    def silence(self) -> None:
        """From now on nothing is kept; steps and phases stay legal. For a forked child."""
        self.entries = deque(maxlen=0)
        self.events = deque(maxlen=0)
        self.samples = deque(maxlen=0)
