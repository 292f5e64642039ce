"""Findings as JSON-ready dicts, the same for the command and the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final

from tb_slowdown_plugin.analysis.compare.comparison import Comparison
from tb_slowdown_plugin.analysis.compare.comparison_headline import comparison_headline
from tb_slowdown_plugin.analysis.types import Report

SCHEMA: Final = 1
"""Raised when a script that reads the report's JSON would have to change."""


def report_body(reports: Sequence[Report]) -> dict[str, Any]:
    """The body of a report: the fields of `Report` in their order, NaN as None.

    >>> report_body([])
    {'schema': 1, 'runs': []}
    """
    return {"schema": SCHEMA, "runs": [without_nan(asdict(report)) for report in reports]}


def comparison_body(comparison: Comparison) -> dict[str, Any]:
    """The body of a comparison: its sentence, then the fields of `Comparison` in their order."""
    headline = comparison_headline(comparison)
    return {"schema": SCHEMA, "headline": headline, **without_nan(asdict(comparison))}


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
