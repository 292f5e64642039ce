"""Estimated accounts: together they take no more than there is."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.prepare.unclocked.estimates import with_estimates
from tb_slowdown_plugin.catalog.events import PYTHON_STACK
from tb_slowdown_plugin.records.types import Fact


def test_what_is_seen_to_wait_is_taken_before_what_computes(make_run):
    waits = Fact(PYTHON_STACK, "take (a.py:3)", {"samples": 10, "of": 20.0, "waits_inside": 10.0})
    works = Fact(PYTHON_STACK, "make (a.py:9)", {"samples": 10, "of": 20.0, "own": 10.0})
    rows = range(10, 100, 10)
    run = make_run(
        np.full(100, 0.1), events=[(row, each) for row in rows for each in (waits, works)]
    )
    measured = {"input_wait": np.full(100, 0.04)}
    made = with_estimates(run, measured, np.array([], np.int64))
    assert list(made) == ["input_wait", "wait:take (a.py:3)", "python:make (a.py:9)"]
    assert made["input_wait"] is measured["input_wait"]
    assert sum(made.values()).max() <= 0.1 + 1e-9
    np.testing.assert_allclose(made["wait:take (a.py:3)"], 0.05)
    np.testing.assert_allclose(made["python:make (a.py:9)"], 0.01)
