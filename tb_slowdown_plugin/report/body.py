"""The body of an answer as JSON text: what was not measured is `null`."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from tb_slowdown_plugin.report.json_body import without_nan

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
        return _dump(without_nan(body))


def _dump(body: Any) -> str:
    return json.dumps(body, allow_nan=False, separators=(",", ":"))
