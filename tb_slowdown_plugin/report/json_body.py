"""Findings as JSON-ready dicts, the same for the command and the page.

The body of an answer as JSON text: what was not measured is `null`.

Reports as JSON: the contract for scripts.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from tb_slowdown_plugin.analysis.compare.comparison import Comparison
from tb_slowdown_plugin.analysis.compare.comparison_headline import comparison_headline
from tb_slowdown_plugin.analysis.compare.side_by_side import SideBySide
from tb_slowdown_plugin.analysis.report_types.plain_values import without_nan
from tb_slowdown_plugin.analysis.report_types.report import Report

SCHEMA: Final = 1
"""Raised when a script that reads the report's JSON would have to change."""

Body: TypeAlias = dict[str, Any]
"""An answer: dicts, lists, texts and numbers; NaN and None mean "not measured"."""


class Encoded(str):
    """A value at the top level of a body that is JSON text already."""

    __slots__ = ()


def report_body(reports: Sequence[Report]) -> dict[str, Any]:
    """The body of a report: the fields of `Report` in their order, NaN as None.

    >>> report_body([])
    {'schema': 1, 'runs': []}
    """
    return {"schema": SCHEMA, "runs": [report.to_dict() for report in reports]}


def comparison_body(comparison: Comparison) -> dict[str, Any]:
    """The body of a comparison: its sentence, then the fields of `Comparison` in their order."""
    headline = comparison_headline(comparison)
    return {"schema": SCHEMA, "headline": headline, **without_nan(asdict(comparison))}


def side_by_side_body(found: SideBySide) -> dict[str, Any]:
    """The body of several runs in columns."""
    first, *others = found.columns
    against = [column.against_first for column in others]
    return {
        "schema": SCHEMA,
        "unit": found.unit,
        "runs": [column.run for column in found.columns],
        "settings": [{"name": name, "values": values} for name, values in found.settings],
        "terms": [without_nan(asdict(row)) for row in found.terms],
        "step_seconds": [column.step_seconds for column in found.columns],
        "totals": [None, *(without_nan(asdict(each.total)) for each in against if each)],
        "warm_up_seconds": [first.warm_up_seconds, *(each.warm_up_seconds for each in others)],
        "headlines": ["", *(comparison_headline(each) for each in against if each)],
        "reasons": [[], *(list(each.reasons) for each in against if each)],
    }


def compact_json(body: Body) -> str:
    """The compact JSON text of an answer.

    >>> compact_json({"seconds": [0.5, float("nan")], "rows": Encoded("[1,2]")})
    '{"seconds":[0.5,null],"rows":[1,2]}'
    """
    if any(isinstance(value, Encoded) for value in body.values()):
        texts = (
            f"{_dump(key)}:{value if isinstance(value, Encoded) else _dump_known(value)}"
            for key, value in body.items()
        )
        return f"{{{','.join(texts)}}}"
    return _dump_known(body)


def _dump_known(body: Any) -> str:
    try:
        return _dump(body)
    except ValueError:  # rare, and looking at each number first would double the time
        return _dump(without_nan(body))


def _dump(body: Any) -> str:
    return json.dumps(body, allow_nan=False, separators=(",", ":"))


def report_json(reports: Sequence[Report]) -> str:
    """The JSON text of reports: the fields of `Report` in their order, NaN as `null`.

    >>> print(report_json([]))
    {
      "schema": 1,
      "runs": []
    }
    """
    return json.dumps(report_body(reports), indent=2, allow_nan=False)
