"""The body of an answer as JSON text: what was not measured is `null`, in one place."""

from __future__ import annotations

import json
import math
from typing import Any, TypeAlias

Body: TypeAlias = dict[str, Any]
"""An answer: dicts, lists, texts and numbers; NaN and None mean "not measured"."""


def to_json(body: Body) -> str:
    """The compact JSON text of an answer.

    >>> to_json({"seconds": [0.5, float("nan")]})
    '{"seconds":[0.5,null]}'
    """
    try:
        return _dump(body)
    except ValueError:  # rare, and looking at each number first would double the time
        return _dump(_without_nan(body))


def _dump(body: Any) -> str:
    return json.dumps(body, allow_nan=False, separators=(",", ":"))


def _without_nan(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(item) for item in value]
    return value
