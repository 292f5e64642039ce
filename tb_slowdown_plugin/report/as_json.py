"""Reports as JSON: the contract for scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tb_slowdown_plugin.analysis.types import Report
from tb_slowdown_plugin.report.json_body import report_body


def to_json(reports: Sequence[Report]) -> str:
    """The JSON text of reports: the fields of `Report` in their order, NaN as `null`.

    >>> print(to_json([]))
    {
      "schema": 1,
      "runs": []
    }
    """
    return json.dumps(report_body(reports), indent=2, allow_nan=False)
