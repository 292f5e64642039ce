"""The verdict on a run, once its losses have causes or have none."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.analysis.types import Verdict

SLOW_START_FLOOR: Final = 0.2
"""Share of the wall from which warm-up alone is a verdict (DESIGN section 5)."""
UNEXPLAINED_FLOOR: Final = 0.1
"""Share of the wall from which unexplained seconds are a slowdown: a choice. Stalls of a busy
machine, which nobody measured, take a few percent of a healthy run."""
GROWN_FLOOR: Final = 0.05
"""The same where the engine found that the run got slower, in whatever pattern."""
_NOISE_OF_START: Final = 0.2
"""Unexplained seconds over those of a slow start, up to which they do not change its verdict."""


def verdict_on(
    diagnosed: Verdict,
    *,
    wall_seconds: float,
    warm_up_seconds: float,
    named_seconds: float,
    unexplained_seconds: float,
) -> Verdict:
    """What a run is.

    Args:
      diagnosed: what the engine says without causes.
      wall_seconds: of the run.
      warm_up_seconds: lost to warm-up, as the rules call it.
      named_seconds: lost to all other causes of the program's own.
      unexplained_seconds: lost to none, in a pattern that stands out of the noise.

    Example:
      >>> verdict_on("slowdown", wall_seconds=12.0, warm_up_seconds=10.0, named_seconds=0.0,
      ...     unexplained_seconds=0.7)
      'slow_start'
      >>> verdict_on("healthy", wall_seconds=12.0, warm_up_seconds=0.0, named_seconds=0.0,
      ...     unexplained_seconds=4.0)
      'slowdown'
    """
    if diagnosed == "not_enough_steps":
        return diagnosed
    if named_seconds > 0:
        return "slowdown"
    slow_start = warm_up_seconds >= SLOW_START_FLOOR * wall_seconds
    if slow_start and unexplained_seconds <= _NOISE_OF_START * warm_up_seconds:
        return "slow_start"
    floor = GROWN_FLOOR if diagnosed == "slowdown" else UNEXPLAINED_FLOOR
    if unexplained_seconds >= floor * wall_seconds > 0:
        return "slowdown"
    return "slow_start" if slow_start else "healthy"
