"""What a report says of where the time went: causes, their advice, and what no cause explains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tb_slowdown_plugin.analysis.types import Confidence, Pattern
from tb_slowdown_plugin.records.trials import Trial


@dataclass(frozen=True, slots=True)
class Advice:
    """One thing to change."""

    text: str
    code: str = ""
    """New lines start with "+", lines that they replace with "-"; others are context."""
    price: str = ""
    """What the change costs, in words."""
    where: str = ""
    """Where in the reader's program the code belongs: "find the `map` in your input pipeline"."""
    kind: Literal["patch", "example"] = "example"
    """Whose code it is: the reader's own line, or an example with names of its own."""
    lines: tuple[int, ...] = ()
    """Of a patch: the line of the file at which each piece of `code` begins."""


@dataclass(frozen=True, slots=True)
class CausePart:
    """What one mechanism took of a cause."""

    part: str
    """An account, "input_wait:first" for the wait for the very first batch, or "core"."""
    title: str
    """The same in words."""
    lost_seconds: float
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    known: str
    """How the seconds are known, in words."""


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program."""

    file: str
    """As records name it: relative to the program's working directory or import path."""
    line: int
    function: str
    """The function there or the call that is made there; "" where not known."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One named cause of a run's slowdown: where two callbacks are slow, each is one."""

    cause: str
    """Its id in the catalog; several of a report may have the same."""
    lost_seconds: float
    lost_fraction: float
    pattern: Pattern
    confidence: Confidence
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    summary: str
    evidence: tuple[str, ...]
    advice: tuple[Advice, ...]
    parts: tuple[CausePart, ...] = ()
    """Of a warm-up: its mechanisms in order of time; they add up to `lost_seconds`."""
    external: bool = False
    """Whether the time was taken from outside of the program, by other processes."""
    place: Place | None = None
    """The line to change; None where the record has none."""
    confirmed: Trial | None = None
    """The experiment that tested it, whatever came of it; None where none has."""
    subject: str = ""
    """The cause as it stands in a headline: "retracing of train_step (train.py:41)"."""
    rank: int = 1
    """Its place among those of the same id, 1 for the costliest."""


@dataclass(frozen=True, slots=True)
class Suspect:
    """A signal that moves with unexplained time; its seconds stay unexplained."""

    cause: str
    seconds: float
    why: str


@dataclass(frozen=True, slots=True)
class Unexplained:
    """How most of the unexplained seconds came about."""

    pattern: Pattern
    steps: tuple[int, int]
    """Step numbers, inclusive."""
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class Investigation:
    """What is known about unexplained time that is the largest part of the loss."""

    moved: tuple[str, ...]
    """What changed where it begins, a sentence each, the strongest first."""
    unmoved: tuple[str, ...]
    """Titles of what was measured and did not change there."""
    advice: tuple[Advice, ...]
    """What to switch on, and what to try next."""
