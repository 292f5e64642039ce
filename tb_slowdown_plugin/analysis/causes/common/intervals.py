"""How often to do something that costs time, so that it fits the length of the run."""

from __future__ import annotations

from typing import Final

from tb_slowdown_plugin.catalog.parameters.causes import AFFORDABLE, USUAL_INTERVAL_SECONDS
from tb_slowdown_plugin.catalog.parameters.shared import SEVERAL

_SECONDS: Final = (10, 30, 60, 120, 300, 600, 1_200, 1_800, 3_600)
_STEPS: Final = tuple(each * 10**power for power in range(9) for each in (1, 2, 5))


def fitting_steps(wanted: float, least: float, run_steps: int) -> int | None:
    """A round number of steps from one time to the next, at most a third of the run.

    Args:
      wanted: Steps that would do, in a run that is long enough.
      least: Fewer change nothing.
      run_steps: Steps of the run; 0 where not known.

    Returns:
      None where the run is too short for `least`.

    Example:
      >>> fitting_steps(60, 2, 600), fitting_steps(1_000, 40, 600), fitting_steps(1_000, 400, 600)
      (100, 200, None)
    """
    most = run_steps / SEVERAL if run_steps else _STEPS[-1]
    fitting = [each for each in _STEPS if least <= each <= most]
    return next((each for each in fitting if each >= wanted), fitting[-1] if fitting else None)


def fitting_seconds(cost_seconds: float, run_seconds: float) -> int:
    """Seconds from one time to the next, at most a third of the run.

    Example:
      >>> fitting_seconds(0.5, 3_600), fitting_seconds(4.0, 120), fitting_seconds(4.0, 36_000)
      (60, 30, 600)
    """
    most = run_seconds / SEVERAL if run_seconds else float(_SECONDS[-1])
    fitting = [each for each in _SECONDS if each <= most] or [_SECONDS[0]]
    wanted = cost_seconds / AFFORDABLE or USUAL_INTERVAL_SECONDS
    return next((each for each in fitting if each >= wanted), fitting[-1])
