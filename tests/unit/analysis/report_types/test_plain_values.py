"""Numbers that JSON can't have are not known; all else stays as it is."""

from __future__ import annotations

import math

from tb_slowdown_plugin.analysis.report_types.plain_values import without_nan


def test_what_is_not_finite_is_none_wherever_it_is():
    given = {"a": math.nan, "b": [1.5, math.inf, {"c": (-math.inf, 2)}]}
    assert without_nan(given) == {"a": None, "b": [1.5, None, {"c": [None, 2]}]}


def test_all_else_stays():
    given = {"text": "nan", "none": None, "whole": 3, "yes": True, "empty": []}
    assert without_nan(given) == given
