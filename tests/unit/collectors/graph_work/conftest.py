"""Graphs of these tests are small: what their calls would take is left out, but for one test."""

from __future__ import annotations

import pytest

from tb_slowdown_plugin.collectors.graph_work import operation_costs


@pytest.fixture(autouse=True)
def call_cost(monkeypatch: pytest.MonkeyPatch) -> float:
    """What a call takes; it takes nothing in the test."""
    cost: float = operation_costs._CALL
    monkeypatch.setattr(operation_costs, "_CALL", 0.0)
    return cost
