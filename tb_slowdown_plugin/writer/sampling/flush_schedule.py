"""When records are written by the age of a run and the number of its steps. Pure.

`flush_pace.FlushPace` has some written before their time.
"""

from __future__ import annotations

from typing import Final

STEPS_PER_FLUSH: Final = 2048
"""Steps that are written without waiting for the time: a chunk of 256 takes as much CPU time
beside a training as one of 1,024."""

STEPS_PER_CHUNK: Final = 4 * STEPS_PER_FLUSH
"""At most in one record: beside steps of 10 us each call of zlib, and of numpy on 500 values and
more, may lose Python's lock for 5 ms, so the fewer calls the more steps are written."""

FLUSH_SECONDS: Final = 10.0
"""What a killed process loses at most."""

LATE_FLUSH_SECONDS: Final = 30.0
"""The same once the run is an hour old: a week stays near 20,000 records."""

LOOK_SECONDS: Final = 1.0
"""How often it is looked whether a chunk is full, or a reading hangs."""

_STEPS_PER_LOOK: Final = 1 << 14
"""Steps between two looks at most: an eighth of those that `step_buffer.py` can keep."""

_LATE_SECONDS: Final = 3600.0
"""Age from which a run is written less often."""

REQUESTS_AT_ONCE: Final = 20.0
"""Flushes on request that are done at once; each sampling interval allows one more."""


def flush_seconds(age_seconds: float) -> float:
    """Seconds between two flushes of a run of this age.

    A run that has just begun is seen in TensorBoard after a second.
    """
    if age_seconds < _LATE_SECONDS:
        return min(max(age_seconds, 1.0), FLUSH_SECONDS)
    return LATE_FLUSH_SECONDS


def look_seconds(passed_seconds: float, steps: int) -> float:
    """Seconds until it is looked again, for a loop that made so many steps since the last look.

    Example:
      >>> look_seconds(1.0, 200), look_seconds(1.0, 65_536)
      (1.0, 0.25)
    """
    if steps * LOOK_SECONDS <= _STEPS_PER_LOOK * passed_seconds:
        return LOOK_SECONDS
    return _STEPS_PER_LOOK * passed_seconds / steps
