"""Values as JSON can have them."""

from __future__ import annotations

import math
from typing import Any


def without_nan(value: Any) -> Any:
    """A JSON-ready value with None where a number is not finite.

    >>> without_nan({"seconds": (0.5, float("nan"))})
    {'seconds': [0.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return value
