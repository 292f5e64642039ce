"""How often the monitor samples and writes, by the age of the run."""

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
"""Likewise once the run is an hour old: a week stays near 20,000 records."""
LOOK_SECONDS: Final = 1.0
"""How often it is looked whether a chunk is full, or a reading hangs."""
_STEPS_PER_LOOK: Final = 1 << 14
"""Steps between two looks at most: an eighth of those that `step_buffer.py` can keep."""
REQUESTS_AT_ONCE: Final = 20.0
"""Flushes on request that are done at once; each sampling interval allows one more."""
SAMPLING_SHARE: Final = 0.0014
"""Of one core, on the average of a run: a seventh of what a monitored run may cost at all."""
_SAMPLING_CREDIT: Final = 0.01
"""CPU seconds that a run may be in debt: the first sample imports and builds things, and a
short run has to have some samples."""
_LATE_SECONDS: Final = 3600.0


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


def sample_seconds(age_seconds: float) -> float:
    """Seconds between two samples of a run of this age.

    A young run is sampled often because it may be over soon; an old one has
    some hundred samples in any stretch that matters to it.
    """
    return min(max(age_seconds / 200.0, 0.25), 10.0)


def affordable_seconds(spent_cpu_seconds: float) -> float:
    """The age at which a run has earned the CPU time that its samples took; 0 in its credit.

    A sample costs 0.3 ms in an idle process and 0.6 ms beside a training, which has the
    caches; more where there are hundreds of threads: then there are fewer of them.
    """
    return max(0.0, spent_cpu_seconds - _SAMPLING_CREDIT) / SAMPLING_SHARE
