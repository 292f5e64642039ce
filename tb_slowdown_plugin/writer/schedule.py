"""How often the monitor samples and writes, by the age of the run."""

from __future__ import annotations

from typing import Final

STEPS_PER_CHUNK: Final = 256
FLUSH_SECONDS: Final = 10.0
"""What a killed process loses at most."""
LATE_FLUSH_SECONDS: Final = 30.0
"""Likewise once the run is an hour old: a week stays near 20,000 records."""
REQUESTS_AT_ONCE: Final = 20.0
"""Flushes on request that are done at once; each sampling interval allows one more."""
_LATE_SECONDS: Final = 3600.0


def flush_seconds(age_seconds: float) -> float:
    """Seconds between two flushes of a run of this age.

    A run that has just begun is seen in TensorBoard after a second.
    """
    if age_seconds < _LATE_SECONDS:
        return min(max(age_seconds, 1.0), FLUSH_SECONDS)
    return LATE_FLUSH_SECONDS


def sample_seconds(age_seconds: float) -> float:
    """Seconds between two samples of a run of this age.

    A young run is sampled often because it may be over soon; an old one has
    some hundred samples in any stretch that matters to it.
    """
    return min(max(age_seconds / 200.0, 0.25), 10.0)
