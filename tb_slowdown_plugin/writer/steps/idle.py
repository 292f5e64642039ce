"""Which gaps between steps are no training. Pure."""

from __future__ import annotations

from typing import Final

IDLE_SECONDS: Final = 60.0
"""A longer gap between two steps, with almost no CPU time, is idle time, not training."""
IDLE_CPU_FRACTION: Final = 0.02
"""Of one core: a waiting notebook uses less, even a slow data pipeline more."""

IDLE_NS: Final = int(IDLE_SECONDS * 1e9)


def is_idle(passed_ns: int, cpu_ns: int) -> bool:
    """Whether a gap between two steps is no training: a notebook was left alone.

    Args:
      passed_ns: How long it was, without what is known to have happened in it.
      cpu_ns: CPU time of the process meanwhile.

    Example:
      >>> is_idle(600_000_000_000, 1_000_000_000), is_idle(600_000_000_000, 60_000_000_000)
      (True, False)
    """
    return passed_ns > IDLE_NS and cpu_ns < IDLE_CPU_FRACTION * passed_ns
