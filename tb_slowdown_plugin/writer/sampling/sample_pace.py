"""When the next sample is due, by what samples have cost so far. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from statistics import median_low
from typing import Final

from tb_slowdown_plugin.records.types import Fact
from tb_slowdown_plugin.writer.sampling import schedule

SLOWED: Final = "sampling_slowed"
"""Fact: samples cost so much CPU time that there are fewer of them."""
_TOLD_FROM: Final = 2.0
"""Times the usual rest, or the one that was told last: less says nothing to anybody."""
_USUAL_OF: Final = 5
"""Samples of which the usual cost is the median: one that met a full disk cache took 80 ms."""
_MOST_RESTS: Final = 16.0
"""Times the usual rest, at most, where the usual cost is within the share: what one expensive
sample spent too much is then earned over several rests, and the run is not left unseen."""


class SamplePace:
    """Keeps samples to their share of a core: it backs off, and records that it did.

    What all samples took stays within the share in the long run.

    Args:
      emit: Takes the fact `sampling_slowed`.

    Example:
      >>> pace = SamplePace(emit=lambda fact: print(fact.name, round(fact.numbers["seconds"], 2)))
      >>> pace.next_age(0.0, cost_seconds=0.001)
      0.25
      >>> round(pace.next_age(0.25, cost_seconds=0.018), 2)
      sampling_slowed 4.0
      4.25
    """

    def __init__(self, emit: Callable[[Fact], None]) -> None:
        self._emit = emit
        self._spent_seconds = 0.0
        self._costs: deque[float] = deque(maxlen=_USUAL_OF)
        self._told_seconds = 0.0

    def next_age(self, age_seconds: float, cost_seconds: float) -> float:
        """The age at which the next sample is due, in seconds.

        Args:
          age_seconds: Of the run, at the sample that was taken just now.
          cost_seconds: CPU time of that sample.
        """
        self._spent_seconds += cost_seconds
        usual = schedule.sample_seconds(age_seconds)
        self._costs.append(cost_seconds)
        most = max(_MOST_RESTS * usual, median_low(self._costs) / schedule.SAMPLING_SHARE)
        rest = min(schedule.affordable_seconds(self._spent_seconds) - age_seconds, most)
        if rest <= usual:
            return age_seconds + usual
        if rest >= _TOLD_FROM * max(usual, self._told_seconds):
            self._told_seconds = rest
            numbers = {
                "seconds": rest,
                "usual_seconds": usual,
                "sample_cpu_seconds": cost_seconds,
            }
            self._emit(Fact(SLOWED, "", numbers))
        return age_seconds + rest
