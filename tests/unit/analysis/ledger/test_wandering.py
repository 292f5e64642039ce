"""A pace that only comes back to where it began has not slowed down."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.analysis.ledger.findings import AT_START, make_finding
from tb_slowdown_plugin.analysis.ledger.wandering import find_wandering

ROWS = 1000


def at_start(last: int, after: float):
    lost = np.where(np.arange(ROWS) < last, 0.003, 0.0)
    return make_finding(
        "core", "level_shift", lost, "high", {AT_START: 1.0, "after_seconds": after}
    )


def later(after: float):
    lost = np.where(np.arange(ROWS) > 700, 0.002, 0.0)
    return make_finding("core", "level_shift", lost, "high", {"after_seconds": after})


def test_a_rise_back_to_the_first_pace_is_wandering() -> None:
    start, back = at_start(400, 0.013), later(0.012)
    assert find_wandering([start, back], ROWS) == (start, back)


def test_a_rise_beyond_the_first_pace_is_a_slowdown() -> None:
    assert find_wandering([at_start(400, 0.013), later(0.014)], ROWS) == ()


def test_a_short_beginning_is_warm_up_and_no_pace() -> None:
    assert find_wandering([at_start(150, 0.013), later(0.012)], ROWS) == ()


def test_without_a_slow_beginning_nothing_wanders() -> None:
    assert find_wandering([later(0.012)], ROWS) == ()
