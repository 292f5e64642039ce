"""What a user may say of a step, and where steps may be; all else is refused with a remedy."""

from __future__ import annotations

import threading
from typing import Final, NoReturn

from tb_slowdown_plugin.errors import UsageError

STEP_LIMIT: Final = 1 << 62
"""Step numbers travel as differences, in signed 64-bit numbers."""


def step_number(step: object) -> int:
    """The step number that the user means.

    Raises:
      UsageError: It is none.
    """
    try:
        number = int(step)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        number = -1
    if not 0 <= number < STEP_LIMIT or number != step:
        raise UsageError(
            f"step={step!r}: expected a non-negative integer below 2**62. Leave it out to count "
            "steps automatically"
        )
    return int(number)


def item_count(items: object) -> float:
    """The amount of work in a step.

    Raises:
      UsageError: It is none.
    """
    try:
        count = float(items)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        count = -1.0
    if not 0.0 <= count < float("inf"):
        raise UsageError(
            f"items={items!r}: expected the number of examples, rows, or tokens in the step (0 or "
            "more)"
        )
    return count


def step_kind(kind: object) -> str:
    """The kind of a step.

    Raises:
      UsageError: It is no name.
    """
    if not isinstance(kind, str) or not kind:
        raise UsageError(f"kind={kind!r}: expected a name such as 'train', 'eval', or 'stage-2'")
    return kind


def nested(name: str, outer: int) -> NoReturn:
    """A step, as "step 7" or "a step", is opened inside step number `outer`."""
    raise UsageError(
        f"{name} was opened inside step {outer}, and steps can't be nested. Close the outer step "
        "first, or use `tbslow.summary.phase(...)` for part of a step"
    )


def other_thread(name: str) -> NoReturn:
    """A step is opened in the calling thread, but another one trains."""
    raise UsageError(
        f"{name} is opened in thread {threading.current_thread().name!r}, but the steps "
        "before it in another one; a run has one training thread: open all its steps there"
    )


def traced(number: int) -> NoReturn:
    """A step is opened while a function is traced."""
    raise UsageError(
        f"step {number} is opened inside a tf.function, where it would run only "
        "while the function is traced; open it around the call of the function"
    )


def ended_twice() -> NoReturn:
    """A step is ended, but none is open."""
    raise UsageError("a step is ended, but none is open; begin one first")
