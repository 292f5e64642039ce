"""What a report says of what was seen: signals, lines of Python, notes, scalars of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class SignalState:
    """Whether a signal was measured."""

    signal: str
    status: Literal["measured", "partly", "unavailable", "off", "failed"]
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RestartingGrowth:
    """Steps that take longer and longer within a cycle, and start over with the next."""

    cycles: int
    steps: int
    """Of a cycle, the median."""
    first_seconds: float
    """What the first steps of a cycle take, the median."""
    last_seconds: float
    above_seconds: float
    """Beyond the first steps of each cycle; they aren't lost."""


@dataclass(frozen=True, slots=True)
class ChangedScalar:
    """A scalar of the program that changes where its steps do; it may be why, or not."""

    tag: str
    before: float
    """Median."""
    after: float
    step: int


@dataclass(frozen=True, slots=True)
class DrawnFrom:
    """The scalars that a run without records was drawn from."""

    tag: str
    """Its points are the steps."""
    writer: str
    """The run as TensorBoard names it."""
    unit: Literal["step", "epoch"]
    """What one step is."""
    clock: Literal["wall_times", "values"]
    """Whether the wall times of the points timed the steps, or their values."""
    steps_per_point: int
    onset_step: int | None
    """Since when steps take longer; None if they don't."""
    times_as_long: float | None
    """A step since then over one before."""
    pauses: int
    """How many pauses came back, such as an evaluation or a save."""
    pause_seconds: float
    """All of them; healthy unless they get longer."""
    changed: tuple[ChangedScalar, ...]
    """Other scalars that change where steps get slower."""


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note of the program on one of its steps, by `tbslow.summary.note`."""

    row: int
    step: int
    text: str


@dataclass(frozen=True, slots=True)
class PythonLine:
    """How much of a step one line of the program has, by samples of the training thread."""

    place: str
    """"sample (agent.py:88)"."""
    location: str
    """"agent.py:88"; "" where the place has none."""
    before_fraction: float | None
    """Of the first samples; None where there is one set only."""
    after_fraction: float
    """Of the newest samples."""
    before_seconds: float | None
    """Of a step, in the steps of these samples."""
    after_seconds: float


@dataclass(frozen=True, slots=True)
class PythonLines:
    """Where the training thread was seen, in the first samples of its stack and in the newest."""

    before_steps: tuple[int, int] | None
    """Step numbers; None where there is one set of samples only."""
    before_samples: int
    after_steps: tuple[int, int]
    after_samples: int
    lines: tuple[PythonLine, ...]
    """Those that a step spends most in, or has spent most in; the largest growth first."""
