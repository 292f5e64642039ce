"""What the program said it would do: steps until the end of the training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from tb_slowdown_plugin.catalog.events import PLANNED_STEPS, PLANNED_STEPS_OVER
from tb_slowdown_plugin.records.run import Run
from tb_slowdown_plugin.records.types import Epoch, Event, Fact

_PLANS: Final = (PLANNED_STEPS, PLANNED_STEPS_OVER)


@dataclass(frozen=True, slots=True)
class StepsLeft:
    """What is left of a training."""

    rows: float
    """Steps, in rows of the run's table."""
    ends: int = 0
    """Ends of epochs, each with its validation, saves, and bookkeeping; 0 where rows hold them."""
    end_rows: tuple[int, ...] = ()
    """Rows whose period holds the end of an epoch of this plan, ascending; empty likewise."""
    is_part: bool = False
    """Whether it is one `fit` after others."""


def find_steps_left(run: Run) -> StepsLeft | None:
    """Finds what is left to train; None where the program didn't say, or has come to the end."""
    first_row = run.sessions[-1].first_row if run.sessions else 0
    found = [event for event in run.events if event.row >= first_row and _name(event) in _PLANS]
    if not found or _name(found[-1]) == PLANNED_STEPS_OVER or run.is_ended:
        return None
    plan = found[-1]
    numbers = plan.what.numbers if isinstance(plan.what, Fact) else {}
    if "until" in numbers:
        return _until(run, numbers["until"])
    return _in_epochs(run, plan, numbers, is_part=len(found) > 1)


def _name(event: Event) -> str:
    return event.what.name if isinstance(event.what, Fact) else ""


def _until(run: Run, until: float) -> StepsLeft | None:
    number = run.steps.number
    if not len(number) or until <= number[-1] + 1:
        return None
    # The program's own numbers may count batches, or be grouped in a long run.
    per_row = float(number[-1] - number[0]) / (len(number) - 1) if len(number) > 1 else 1.0
    return StepsLeft((until - 1.0 - float(number[-1])) / per_row)


def _in_epochs(
    run: Run, plan: Event, numbers: Mapping[str, float], *, is_part: bool
) -> StepsLeft | None:
    epochs = int(numbers.get("epochs", 0.0))
    begun = [
        event.row
        for event in run.events
        if isinstance(event.what, Epoch) and event.row >= plan.row and event.time >= plan.time
    ]
    if not begun or (is_part and epochs <= 1):  # a loop of the program's own around `fit`
        return None
    # The length of a pass as it was seen, else as Keras knows it.
    seen = begun[-1] - begun[-2] if len(begun) > 1 else 0
    per_epoch = seen or numbers.get("steps", 0.0) / run.steps_per_row
    ends = epochs - len(begun) + 1
    rows = ends * per_epoch - (len(run.steps) - begun[-1])
    if per_epoch <= 0 or ends <= 0 or rows <= 0:
        return None
    return StepsLeft(rows, ends, tuple(begun[1:]), is_part)
