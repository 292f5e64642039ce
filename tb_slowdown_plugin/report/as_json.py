"""Reports as JSON: the contract for scripts (schema 1)."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from tb_slowdown_plugin.analysis.types import Report

SCHEMA: Final = 1
"""Raised when a script that reads the JSON would have to change."""


def to_json(reports: Sequence[Report]) -> str:
    """The JSON text of reports: the fields of `Report` in their order, NaN as `null`.

    >>> print(to_json([]))
    {
      "schema": 1,
      "runs": []
    }
    """
    body = {"schema": SCHEMA, "runs": [_finite(asdict(report)) for report in reports]}
    return json.dumps(body, indent=2, allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
