"""Refuses steps where they can't be, and says why."""

from __future__ import annotations

import threading
from typing import NoReturn

from tb_slowdown_plugin.errors import UsageError


def nested(name: str, outer: int) -> NoReturn:
    """A step, as "step 7" or "a step", is opened inside step number `outer`."""
    raise UsageError(
        f"{name} is opened inside step {outer}; steps do not nest: "
        "leave the outer `with tbslow.summary.step()` first, "
        "or use `tbslow.summary.phase(...)` for a part of a step"
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
