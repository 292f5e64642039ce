"""How a stretch of time stands in a sentence, of the monitor and of the analysis alike."""

from __future__ import annotations

import math


def duration(seconds: float) -> str:
    """A stretch of time in prose: two units at most.

    >>> duration(242), duration(59.96), duration(0.00042), duration(200_000)
    ('4 min 2 s', '1 min 0 s', '0.42 ms', '2 d 8 h')
    >>> duration(0.0000021), duration(0.0)
    ('2.1 \u00b5s', '0 ms')
    """
    if not math.isfinite(seconds):
        return "an unknown time"
    if seconds < 0:
        return f"\u2212{duration(-seconds)}"
    if 0 < seconds < 0.00009995:
        return f"{three_digits(seconds * 1e6)} \u00b5s"
    if seconds < 0.9995:
        return f"{three_digits(seconds * 1e3)} ms"
    if seconds < 9.995:
        return f"{seconds:.2f}".rstrip("0").rstrip(".") + " s"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    minutes = round(seconds / 60)
    if minutes < 48 * 60:
        return f"{minutes // 60} h {minutes % 60} min"
    hours = round(seconds / 3600)
    return f"{hours // 24} d {hours % 24} h"


def three_digits(value: float) -> str:
    """A positive number with about three significant digits, without trailing zeros."""
    decimals = 0 if value >= 99.95 else 1 if value >= 9.995 else 2
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
