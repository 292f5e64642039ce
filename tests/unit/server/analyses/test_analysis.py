"""An analysis knows its rows, and which one it is."""

from __future__ import annotations

from typing import Any

from tb_slowdown_plugin.server.analyses.analysis import Analysis


def test_each_analysis_has_a_larger_number_than_those_before(source: Any, account_of: Any) -> None:
    run = source.runs["nested/run2"]
    first, second = (Analysis(run, account_of(run), {}) for _ in range(2))
    assert (first.rows, second.rows) == (20, 20)
    assert second.number > first.number
