"""What both towers speak about: the values that one chunk of records holds.

The writer fills these from a training process, the codec turns them into
bytes and back, the reader joins them to a run (`run.py`), the analysis reads
them. `None`, NaN and an absent column all mean "not measured".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Float: TypeAlias = NDArray[np.float64]
Int: TypeAlias = NDArray[np.int64]

TraceCause = Literal[
    "first", "signature", "new_object", "variables", "library", "context", "reported"
]
CollectorStatus = Literal["running", "unavailable", "off", "failed"]


@dataclass(frozen=True, slots=True)
class StepTable:
    """One row a training step, in the order in which the steps ended.

    `S` is the number of steps. Seconds are exclusive: a second stands in one
    account only, and the accounts of a step sum up to at most its period.
    """

    number: Int
    """(S,) the step number that the user gave, else a count; may go back after a resume."""
    period_seconds: Float
    """(S,) from the end of the step before (without idle time) to the end of this one."""
    inside_seconds: Float
    """(S,) the part of the period inside `with step()`."""
    process_cpu_seconds: Float
    """(S,) CPU time of all threads of the process during the period; NaN where not measured.

    Its clock is read at most every 50 ms: between two readings it is spread over the steps in
    proportion to their periods."""
    thread_cpu_seconds: Float
    """(S,) CPU time of the training thread, likewise."""
    ended: Float
    """(S,) Unix seconds at which the step ended."""
    items: Float
    """(S,) examples, rows or tokens in the step; NaN where not told."""
    kind: Int
    """(S,) index into `kinds`."""
    kinds: tuple[str, ...]
    accounts: Mapping[str, Float] = field(default_factory=dict)
    """name -> (S,) measured exclusive seconds; names in `catalog/names.py`."""
    ran: Int = field(default_factory=lambda: np.zeros(0, np.int64))
    """(S,) which functions the step ran, a bit for each; the facts `STEP_FUNCTION` have their
    names. 0 where none was seen."""
    calls: Int = field(default_factory=lambda: np.zeros(0, np.int64))
    """(S,) how often it called one of them."""
    argument_size: Int = field(default_factory=lambda: np.zeros(0, np.int64))
    """(S,) numbers in the largest argument of each of these calls, together; 0 where none was a
    tensor."""

    def __post_init__(self) -> None:
        for name in ("ran", "calls", "argument_size"):
            if len(getattr(self, name)) != len(self.number):
                object.__setattr__(self, name, np.zeros(len(self.number), np.int64))

    def __len__(self) -> int:
        return len(self.number)


@dataclass(frozen=True, slots=True)
class SignalTable:
    """Sampled series: one row a sample, NaN where a signal was not measured then."""

    time: Float
    """(R,) Unix seconds."""
    row: Int
    """(R,) steps finished when the sample was taken."""
    values: Mapping[str, Float] = field(default_factory=dict)
    """signal name -> (R,); names and units in `catalog/names.py`."""

    def __len__(self) -> int:
        return len(self.time)


@dataclass(frozen=True, slots=True)
class Change:
    """One argument that differs from the closest earlier trace."""

    argument: str
    what: str
    """shape, dtype, rank, python_number, python_value, python_object, none, structure or spec"""
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Trace:
    """A `tf.function` was traced. Units and meanings: `slowdown.proto`."""

    id: int
    function: str
    location: str
    seconds: float
    building_seconds: float
    cause: TraceCause
    count: int = 1
    operations: int = 0
    depth: int = 0
    changes: tuple[Change, ...] = ()
    elsewhere: bool = False
    jit_compile: bool = False
    signature: tuple[str, ...] = ()
    reason: str = ""
    variable_elements: int = 0
    new_model: bool = False


FIRST_RUNS: Final = 4
"""Of a graph, that have an `Execution` each."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One of the first runs of the graph that trace number `trace` has made."""

    trace: int
    nth: int
    """From 1 on; beyond `FIRST_RUNS` it is the fastest of all between these and it."""
    seconds: float
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class GcPause:
    """A pause of Python's garbage collector."""

    generation: int
    seconds: float
    collected: int
    elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class Epoch:
    """An epoch begins with the step of this event."""

    number: int


@dataclass(frozen=True, slots=True)
class Idle:
    """A gap without work, kept out of the wall time."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Failure:
    """A part of the monitor failed; training went on."""

    part: str
    reason: str


@dataclass(frozen=True, slots=True)
class Capture:
    """A profiler capture began (`running`) or ended."""

    session: str
    running: bool


@dataclass(frozen=True, slots=True)
class Fact:
    """Anything else that happened, with its numbers."""

    name: str
    subject: str = ""
    numbers: Mapping[str, float] = field(default_factory=dict)


What: TypeAlias = Trace | Execution | GcPause | Epoch | Idle | Failure | Capture | Fact


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened once, and the step to which it belongs."""

    row: int
    """Steps finished before it: the row of the step in whose period it lies."""
    time: float
    """Unix seconds at which it ended."""
    what: What


@dataclass(frozen=True, slots=True)
class CollectorState:
    """Whether a collector runs, and why not."""

    name: str
    status: CollectorStatus
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Environment:
    """Where the run runs: versions, devices, limits, collectors. Nothing private."""

    versions: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[tuple[str, str], ...] = ()
    """(name, kind) of each device that TensorFlow sees."""
    limits: Mapping[str, float] = field(default_factory=dict)
    collectors: tuple[CollectorState, ...] = ()
    worker_index: int = 0
    worker_count: int = 1

    @property
    def is_cpu_alone(self) -> bool:
        """Whether TensorFlow is known to see no other device."""
        return {kind for _, kind in self.devices} == {"CPU"}


@dataclass(frozen=True, slots=True)
class Chunk:
    """Everything since the last flush of one session: one record in the logdir."""

    session: str
    sequence: int
    started: float
    """Unix seconds at which the first period of this chunk began."""
    first_row: int
    """Steps that the session finished before this chunk."""
    steps: StepTable
    signals: SignalTable
    events: tuple[Event, ...] = ()
    environment: Environment | None = None


def no_steps() -> StepTable:
    """A table without a step."""
    empty = np.empty(0)
    whole = np.empty(0, np.int64)
    return StepTable(whole, empty, empty, empty, empty, empty, empty, whole, ())


def no_signals() -> SignalTable:
    """A table without a sample."""
    return SignalTable(np.empty(0), np.empty(0, np.int64))
