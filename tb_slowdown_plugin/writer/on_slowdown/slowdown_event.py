"""What `on_slowdown` is called with."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any, Literal

from tb_slowdown_plugin.catalog.durations import duration
from tb_slowdown_plugin.writer.on_slowdown.pace_watch import Slower
from tb_slowdown_plugin.writer.sampling.stall_watch import StallEnd, StallStart


@dataclass(frozen=True, slots=True)
class SlowdownEvent:
    """Steps have become slower, or no step ends.

    Example:
      >>> event_of_pace(Slower(473, 0.0228, 0.0349), 1.8e9, "tbslow report logs").text
      'Steps got slower at step 473: from 22.8 ms to 34.9 ms. To see why: tbslow report logs'
    """

    kind: Literal["slower", "stall", "stall_over"]
    """`stall` where no step has ended for a minute and 20 median steps, `stall_over` where one
    has ended since, or the monitor was stopped."""
    time: float
    """Unix seconds at which it was seen."""
    step: int | None
    """The step at which steps became slower; None of a stall."""
    before_step_seconds: float | None
    """Median before; None of a stall."""
    step_seconds: float | None
    """Median now; None of a stall."""
    since: float | None
    """Unix seconds at which the last step before a stall ended; None where steps became slower."""
    stalled_seconds: float | None
    """So far, or in total; None where steps became slower."""
    place: str | None
    """Function and line of the training thread in a stall; None where steps became slower."""
    text: str
    """All of it in words."""

    def to_dict(self) -> dict[str, Any]:
        """The same as a `dict`, for JSON."""
        return dataclasses.asdict(self)


def event_of_pace(slower: Slower, now: float, command: str) -> SlowdownEvent:
    """Steps have become slower for good.

    Args:
      slower: What was seen.
      now: Unix seconds.
      command: Says why.
    """
    change = f"from {duration(slower.before)} to {duration(slower.seconds)}"
    text = f"Steps got slower at step {slower.step:,}: {change}. To see why: {command}"
    return SlowdownEvent(
        "slower", now, slower.step, slower.before, slower.seconds, None, None, None, text
    )


def event_of_stall(stall: StallStart | StallEnd, now: float) -> SlowdownEvent:
    """A stall has begun or ended.

    Args:
      stall: What was seen.
      now: Unix seconds.
    """
    where = f"the training thread {{}} in {stall.place}"
    if isinstance(stall, StallStart):
        clock = time.strftime("%H:%M:%S", time.localtime(stall.since))
        text = f"No step since {clock} ({stall.seconds:.0f} s): {where.format('is')}."
    else:
        text = f"Steps end again. None did for {stall.seconds:.0f} s: {where.format('was')}."
    kind: Literal["stall", "stall_over"] = (
        "stall" if isinstance(stall, StallStart) else "stall_over"
    )
    return SlowdownEvent(kind, now, None, None, None, stall.since, stall.seconds, stall.place, text)
