"""What a report says of a run that goes on: up to where, how fast, and whether it stands still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Confirming:
    """Seconds of a live run that lie above its baseline and whose cause is not confirmed yet."""

    seconds: float
    """Part of the report's `unexplained_seconds`."""
    since_step: int
    """About where they begin."""
    growth_fraction: float | None
    """How much longer a step takes since then, over a healthy step; None if it is no longer."""
    candidate: str | None
    """Id of the cause that they have if they are confirmed; None if no cause fits yet."""
    decided_step: int
    """About the step by which they are confirmed or withdrawn."""
    text: str
    """The same in words."""


@dataclass(frozen=True, slots=True)
class AsOf:
    """The last step of a snapshot."""

    step: int
    ended: float
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class Recent:
    """What a step takes at the end of a run."""

    seconds: float
    """Median."""
    steps: int


@dataclass(frozen=True, slots=True)
class Stall:
    """No step has ended for a long time, and none has since."""

    since: float
    """Unix seconds at which the last step ended."""
    seconds: float
    """How long that is, up to the newest record."""
    place: str
    """Function and line of the training thread."""
    account: str | None
    """The account of known work that takes so long, such as "checkpoint"; None where the program
    waits."""
    threads: Mapping[str, int]
    """Place -> other threads of the program there."""
    other_threads: int
    """Other threads of the process in total."""
    text: str
    """The same in words, with what the process does in that time."""


@dataclass(frozen=True, slots=True)
class Remaining:
    """What a run still takes if it goes on as it does now."""

    steps: int
    seconds: float
    """With validation, saves, and whatever else comes between steps."""
    lost_seconds: float
    """Part of it: what the losses that last cost until the end."""
    text: str
    """The same in words."""
