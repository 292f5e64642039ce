"""A threshold is used as a number, and says what it is."""

from __future__ import annotations

import numpy as np

from tb_slowdown_plugin.catalog.parameter import CHOSEN, Count, Parameter


def test_a_parameter_computes_like_its_number() -> None:
    floor = Parameter(0.05, unit="share of wall", what="Named from here on.")
    assert floor == 0.05
    assert (floor * 2.0, type(floor * 2.0)) == (0.1, float)
    assert (np.array([1.0, 2.0]) * floor).dtype == np.float64
    assert list(np.array([0.04, 0.06]) >= floor) == [False, True]
    assert f"{floor:g}" == "0.05"
    assert (floor.unit, floor.source) == ("share of wall", CHOSEN)


def test_a_count_stays_whole() -> None:
    fewest = Count(3, unit="events", what="Fewer say nothing.", source="a test")
    assert list(range(fewest)) == [0, 1, 2]
    assert type(fewest + 1) is int
    assert fewest.source == "a test"
